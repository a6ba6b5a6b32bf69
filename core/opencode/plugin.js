// ledger-tui shim __VERSION__, a plugin of OpenCode. It does two things that only code inside OpenCode can do:
// - hooks: tell the ledger of each finished tool call, and append its note before the model reads the output;
// - door: where OpenCode listens on nothing, pass its API on to this user's processes, on loopback, behind a token.
// It must never hurt the agent: it throws nothing, prints nothing, waits for the ledger no longer than the deadline,
// and does without whatever it does not find. `ledger-tui uninit` removes it; so does deleting this file.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import fs from "node:fs"
import net from "node:net"
import os from "node:os"
import path from "node:path"

const VERSION = "__VERSION__"
const OWN_TITLE = "ledger-extraction" // sessions of the ledger itself
const EDGE = 16 * 1024, MARKER_ROOM = 48 // characters kept of a long output, cut as core/text.py does
const LOOK_MS = 2000, PAUSE_MS = 5000, ASIDE_MS = 2000, MISSES = 3
const MAX_ANSWER = 256 * 1024, MAX_ARGS = 512 * 1024, MAX_BODY = 16 * 1024 * 1024, MAX_REQUESTS = 64
const NOT_PASSED_ON = ["authorization", "host", "connection", "accept-encoding", "content-length", "transfer-encoding"]

// OpenCode may load the shim twice in one process (two files, two servers): a call is reported once, by either.
const shared = (globalThis[Symbol.for("ledger-tui.shim")] ??= { calls: new Map(), own: new Map(), doors: new Map() })

const safely = (work) => async (...given) => { try { return await work(...given) } catch { return undefined } }
const quietly = (work) => { try { return work() } catch { return undefined } }
const isText = (value) => typeof value === "string"
const isPrivate = (stat) => stat.uid === process.getuid() && (stat.mode & 0o077) === 0
const isAlive = (pid) => quietly(() => process.kill(pid, 0))
const sha256 = (text) => createHash("sha256").update(text)

function runtimeFolder() {
  const { LEDGER_HOME, XDG_RUNTIME_DIR } = process.env
  if (LEDGER_HOME) return path.resolve(LEDGER_HOME.replace(/^~(?=$|\/)/, os.homedir()), "runtime")
  if (XDG_RUNTIME_DIR) return path.join(XDG_RUNTIME_DIR, "ledger-tui")
  return path.join(os.tmpdir(), `ledger-tui-${process.getuid()}`)
}

function isUsable(folder) {
  const stat = fs.lstatSync(folder) // a symlink is no folder here
  return stat.isDirectory() && isPrivate(stat)
}

/** Head and tail of a long text, counted in code points. */
function bounded(text) {
  if (text.length <= 2 * EDGE + MARKER_ROOM) return text
  const left = text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0) - 2 * EDGE
  if (left <= MARKER_ROOM) return text
  const head = Array.from(text.slice(0, 2 * EDGE)).slice(0, EDGE).join("")
  return `${head}\n… [${left} characters left out] …\n${Array.from(text.slice(-2 * EDGE)).slice(-EDGE).join("")}`
}

function boundedArgs(args) {
  const all = Object.fromEntries(Object.entries(args ?? {}).map(([k, v]) => [k, isText(v) ? bounded(v) : v]))
  if (JSON.stringify(all).length <= MAX_ARGS) return all
  const wanted = ["command", "description", "filePath", "path"].filter((name) => isText(all[name]))
  return Object.fromEntries(wanted.map((name) => [name, all[name]]))
}

// ---- hooks: the way to the ledger ----

/** What the ledger announced, when that is a private file of this user and makes sense. */
function readPeer(file) {
  if (!isUsable(path.dirname(file))) return null
  const handle = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
  try {
    const stat = fs.fstatSync(handle)
    if (!stat.isFile() || !isPrivate(stat) || stat.size > 65536) return null
    const { v, port, token, pid, deadline_ms: wanted } = JSON.parse(fs.readFileSync(handle, "utf8"))
    if (v !== 1 || !(port > 0 && port < 65536) || !/^[0-9a-f]{64}$/.test(token) || !(pid > 0)) return null
    return { port, token, pid, deadline: wanted > 0 ? Math.min(wanted, 10_000) : 250, idle: new Set() }
  } finally { fs.closeSync(handle) }
}

/** See whether the announcement is another one than last time: every two seconds at most, or now. */
function look(link, now = Date.now(), force = false) {
  if (now < link.nextLook && !force) return
  link.nextLook = now + LOOK_MS
  const stat = quietly(() => fs.lstatSync(link.file))
  const stamp = stat ? [stat.ino, stat.mtimeMs, stat.size, stat.mode, stat.uid].join() : ""
  if (stamp === link.stamp) return
  hangUp(link)
  Object.assign(link, { stamp, peer: null, pausedUntil: 0, misses: 0 })
  link.peer = (stat && quietly(() => readPeer(link.file))) ?? null
  const { directory, opencode } = link
  if (link.peer) void aside(link, "/v1/hello", { pid: process.pid, directory, opencode, shim: VERSION })
}

const hangUp = (link) => link.peer?.idle.forEach((line) => line.socket.destroy())

/** A kept-alive connection. A raw socket, since Bun's fetch and node:http send even loopback through HTTP_PROXY. */
function connect(peer) {
  const line = { socket: net.connect(peer.port, "127.0.0.1"), onData: null, onClose: null }
  line.socket.setNoDelay(true)
  line.socket.on("error", () => {})
  line.socket.on("data", (bytes) => (line.onData ? line.onData(bytes) : line.socket.destroy()))
  line.socket.on("close", () => { peer.idle.delete(line); line.onClose?.() })
  return line
}

/** One request: resolves to `{ answer }`, or to `{ failed }`: stale (an old connection was gone), late, refused. */
function exchange(peer, route, body, ms) {
  const [kept] = peer.idle
  peer.idle.delete(kept)
  if (!kept && !isAlive(peer.pid)) return { failed: "refused" } // whoever has that port now is not the ledger
  const line = kept ?? connect(peer)
  return new Promise((resolve) => {
    let received = Buffer.alloc(0)
    const end = (result) => {
      clearTimeout(timer)
      line.onData = line.onClose = null
      if (!result.answer || peer.idle.size >= 4) line.socket.destroy()
      else { line.socket.unref(); peer.idle.add(line) }
      resolve(result)
    }
    const timer = setTimeout(() => end({ failed: "late" }), Math.max(1, ms))
    line.onClose = () => end({ failed: kept ? "stale" : "refused" })
    line.onData = (bytes) => {
      received = Buffer.concat([received, bytes])
      const gap = received.indexOf("\r\n\r\n"), head = received.toString("latin1", 0, gap + 2)
      const isWrong = received.length > MAX_ANSWER || (gap >= 0 && !head.startsWith("HTTP/1.1 200 "))
      if (isWrong) return end({ failed: "refused" })
      if (gap < 0 || received.length < gap + 4 + Number(/\ncontent-length: *(\d+)\r/i.exec(head)?.[1])) return undefined
      try { return end({ answer: Object(JSON.parse(received.toString("utf8", gap + 4))) }) }
      catch { return end({ failed: "refused" }) }
    }
    line.socket.ref()
    const size = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`
    const head = `POST ${route} HTTP/1.1\r\nHost: 127.0.0.1:${peer.port}\r\nAuthorization: Bearer ${peer.token}`
    line.socket.write(`${head}\r\n${size}\r\n\r\n${body}`)
  })
}

/** Ask the ledger. After a refusal look for another one at once, and pause when there is none. */
async function ask(link, route, message, ms) {
  const until = performance.now() + ms, body = JSON.stringify(message)
  for (let attempt = 0; attempt < 6 && link.peer; attempt += 1) {
    const peer = link.peer
    const result = await exchange(peer, route, body, until - performance.now())
    if (result.answer || result.failed === "late") return result
    if (result.failed === "refused") look(link, Date.now(), true)
    if (result.failed === "refused" && link.peer === peer) { link.pausedUntil = Date.now() + PAUSE_MS; break }
  }
  return { failed: "refused" }
}

const aside = safely((link, route, message) => ask(link, route, message, ASIDE_MS)) // not waited for

async function afterTool(link, input, output) {
  const { sessionID: session, callID: call, tool } = input, ended = Date.now()
  look(link, ended)
  const known = shared.calls.get(`${session} ${call}`) ?? {}
  if (!link.peer || ended < link.pausedUntil || !output || shared.own.has(session) || known.reported) return
  learn(session, call, { reported: true })
  const began = performance.now(), lastMs = link.lastMs
  link.lastMs = null
  const { answer, failed } = await ask(link, "/v1/after", {
    session, call, message: known.message ?? "", part: known.part ?? "", tool, args: boundedArgs(input.args),
    title: String(output.title ?? "").slice(0, 500), output: bounded(outputText(output)),
    exit: Number.isInteger(output.metadata?.exit) ? output.metadata.exit : null, started: known.started ?? 0, ended,
    last_ms: lastMs,
  }, link.peer.deadline)
  link.misses = failed === "late" ? link.misses + 1 : 0
  if (link.misses >= MISSES) link.pausedUntil = Date.now() + PAUSE_MS // it hangs: do not wait for it at every call
  const append = isText(answer?.append) ? answer.append : "", appended = append !== "" && isText(output.output)
  if (appended) output.output += append
  const ms = Math.round((performance.now() - began) * 100) / 100
  const ack = { session, call, note: answer?.note ?? "", appended, ms }
  if (append || failed === "late") void aside(link, "/v1/ack", ack)
  else if (answer) link.lastMs = ms // told with the next question
}

/** What the model is given: a text, or with the tools of MCP servers a list of contents. */
const outputText = ({ output, content }) =>
  isText(output) ? output : (content ?? []).map((item) => item?.text ?? "").join("\n")

function learn(session, call, news) {
  const key = `${session} ${call}`
  shared.calls.set(key, { ...shared.calls.get(key), ...news })
  if (shared.calls.size > 1000) shared.calls.delete(shared.calls.keys().next().value)
}

/** Learn which part a running call is, and which sessions are the ledger's own. */
function onEvent({ type, properties: { part, info } = {} }) {
  if (type === "message.part.updated" && part?.type === "tool") {
    if (["completed", "error"].includes(part.state?.status)) shared.calls.delete(`${part.sessionID} ${part.callID}`)
    else learn(part.sessionID, part.callID, { message: part.messageID, part: part.id })
  } else if (type === "session.created" || type === "session.updated") {
    if (info?.title === OWN_TITLE || shared.own.has(info?.parentID)) shared.own.set(info.id, true)
  }
}

// ---- door: OpenCode's API for the ledger, where OpenCode listens on nothing ----

/** OpenCode's version if its API answers there, "" if it asks for a password. */
async function versionAt(api, base, headers) {
  const signal = AbortSignal.timeout(5000)
  const answer = await api.fetch(new Request(new URL("/global/health", base), { headers, signal }))
  return answer.status === 200 ? String((await answer.json()).version) : answer.status === 401 ? "" : null
}

/** The in-process API behind the plugin's client (internal, so probed): it answers even where nobody can listen. */
async function probe(client, link) {
  const { fetch, baseUrl, headers } = client._client.getConfig(), sent = new Headers(headers)
  const api = { fetch, baseUrl, place: sent.get("x-opencode-directory"), auth: sent.get("authorization") }
  const inside = await versionAt(api, "http://127.0.0.1:0", {}).catch(() => null)
  const withAuth = api.auth ? { authorization: api.auth } : {}
  link.opencode = inside || ((await versionAt(api, baseUrl, withAuth).catch(() => "")) ?? "")
  return inside === null ? null : api
}

function openDoor(api, link) {
  if (shared.doors.has(link.door) || link.disposed || typeof globalThis.Bun?.serve !== "function") return
  fs.mkdirSync(path.dirname(link.door), { recursive: true, mode: 0o700 })
  if (!isUsable(path.dirname(link.door))) return
  const token = randomBytes(32).toString("hex"), { directory, opencode } = link
  const server = Bun.serve({
    hostname: "127.0.0.1", port: 0, idleTimeout: 30, maxRequestBodySize: MAX_BODY, development: false,
    fetch: doorway(api, token), error: () => new Response(null, { status: 502 }),
  })
  server.unref()
  shared.doors.set(link.door, server)
  const said = { v: 1, port: server.port, token, pid: process.pid, directory, opencode, shim: VERSION }
  const draft = `${link.door}.${token.slice(0, 8)}`
  try {
    fs.writeFileSync(draft, JSON.stringify(said), { mode: 0o600, flag: "wx" })
    fs.renameSync(draft, link.door)
  } catch { closeDoor(link.door); fs.rmSync(draft, { force: true }) }
}

function closeDoor(file) {
  const server = shared.doors.get(file)
  shared.doors.delete(file)
  if (server) fs.rmSync(file, { force: true })
  server?.stop(true)
}

function doorway(api, token) {
  const secret = sha256(`Bearer ${token}`).digest()
  const no = (status, error) => Response.json({ error }, { status })
  let open = 0
  return async (request, server) => {
    const { headers } = request
    const hosts = [`127.0.0.1:${server.port}`, `localhost:${server.port}`]
    if (!hosts.includes(headers.get("host"))) return no(403, "this door is on loopback")
    if (headers.has("origin")) return no(403, "web pages are not served")
    const given = sha256(headers.get("authorization") ?? "").digest()
    if (!timingSafeEqual(given, secret)) return no(401, "the token is missing or wrong")
    if (open >= MAX_REQUESTS) return no(503, "too many requests at a time")
    server.timeout(request, 0) // a prompt takes as long as the agent, and events never end
    open += 1
    let ended = () => { open -= 1; ended = () => {} }
    try { return counted(await api.fetch(await passedOn(api, request)), () => ended()) }
    catch { ended(); return no(502, "OpenCode did not answer") }
  }
}

async function passedOn(api, request) {
  const { pathname, search, searchParams } = new URL(request.url)
  const url = Object.assign(new URL(api.baseUrl), { pathname, search }), headers = new Headers(request.headers)
  for (const name of NOT_PASSED_ON) headers.delete(name)
  if (api.auth) headers.set("authorization", api.auth)
  const isPlaced = searchParams.has("directory") || headers.has("x-opencode-directory")
  if (api.place && !isPlaced) headers.set("x-opencode-directory", api.place)
  const body = ["GET", "HEAD"].includes(request.method) ? undefined : await request.arrayBuffer()
  return new Request(url, { method: request.method, headers, body, signal: request.signal })
}

/** The same response; `ended` is called once its body is over, or nobody reads it any more. */
function counted(response, ended) {
  const reader = response.body?.getReader()
  if (!reader) { ended(); return response }
  const pull = async (sink) => {
    const { done, value } = await reader.read().catch((error) => { ended(); throw error })
    if (!done) return sink.enqueue(value)
    ended()
    return sink.close()
  }
  const cancel = (reason) => { ended(); return reader.cancel(reason) }
  return new Response(new ReadableStream({ pull, cancel }), { status: response.status, headers: response.headers })
}

// ---- what OpenCode loads ----

async function server({ client, directory }) {
  try {
    const stem = path.join(runtimeFolder(), sha256(fs.realpathSync(directory)).digest("hex").slice(0, 32))
    const link = {
      file: `${stem}.ledger.json`, door: `${stem}.${process.pid}.door.json`, directory, opencode: "", disposed: false,
      stamp: "", peer: null, nextLook: Date.now() + LOOK_MS, pausedUntil: 0, misses: 0, lastMs: null,
    }
    const begin = async () => {
      const api = await probe(client, link).catch(() => null)
      look(link, Date.now(), true)
      if (api) openDoor(api, link)
    }
    setTimeout(safely(begin), 0) // once OpenCode has loaded all plugins
    shared.atExit ??= process.once("exit", safely(() => [...shared.doors.keys()].forEach(closeDoor)))
    return {
      event: safely(({ event }) => { look(link); onEvent(event) }),
      "tool.execute.before": safely(({ sessionID: session, callID: call }) => {
        learn(session, call, { started: Date.now(), reported: false })
      }),
      "tool.execute.after": safely((input, output) => afterTool(link, input, output)),
      dispose: safely(() => { link.disposed = true; closeDoor(link.door); hangUp(link) }),
    }
  } catch { return {} }
}

export default { id: "ledger-tui", server }
