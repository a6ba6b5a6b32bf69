"""Past sessions: read OpenCode's own database, choose among its sessions, and make transcripts of them.

::

    opening, wal      a connection that leaves no trace beside the database
    source            which databases there are, and what layout one has
    listing           sessions, oldest first, in constant memory
    v1, v2, legacy    the layouts, each giving the same rows
    parts             the parts of one session, in the order they were said
    pieces            a part as readable text, bounded, masked
    transcript        the pieces of a session within a budget
    gathering         all sources that there are, opened as one
    index, search     full-text search, in an index of our own
    stats, tools      sums by day, model, project and tool
    markdown          a session to read
    distil            notes that a model makes; inference and sinks: who is asked, and where notes go

Nothing in the source is ever written: no table, no index, no file beside it.
"""
