import { useEffect, useRef, useSyncExternalStore } from 'react'
import { root } from './client'
import { client } from './query'

/** Kinds of what the server tells at once. */
export const kinds = ['message', 'status', 'session', 'chat', 'delivery', 'run', 'resync'] as const
export type Kind = (typeof kinds)[number]

export interface News {
  kind: Kind
  data: Record<string, unknown>
}

type Ear = (news: News) => void
const ears = new Set<Ear>()

/** What is known of the connection; the panel says when it is lost. */
export type Link = 'connecting' | 'live' | 'lost'
let link: Link = 'connecting'
const watchers = new Set<() => void>()

function setLink(next: Link) {
  if (next === link) return
  link = next
  watchers.forEach((tell) => tell())
}

/** useLink follows the state of the connection. */
export function useLink(): Link {
  return useSyncExternalStore(
    (tell) => {
      watchers.add(tell)
      return () => watchers.delete(tell)
    },
    () => link,
  )
}

/** stale is what is read again, wherever it is shown, when something happens; soon, as much may happen at once. */
const stale: Partial<Record<Kind, string[]>> = { session: ['references', 'reference'], delivery: ['hooks', 'deliveries', 'echo'], run: ['runs'] }
const soon = 100 // ms
const due = new Set<Kind>()

function refresh(kind: Kind) {
  const keys = stale[kind]
  if (!keys || due.has(kind)) return
  due.add(kind)
  setTimeout(() => {
    due.delete(kind)
    for (const key of keys) void client.invalidateQueries({ queryKey: [key] })
  }, soon)
}

function hear(news: News) {
  if (news.kind === 'resync') void client.invalidateQueries()
  refresh(news.kind)
  ears.forEach((ear) => ear(news))
}

/** useNews calls back for everything that happens while the caller is shown. */
export function useNews(ear: Ear) {
  const latest = useRef(ear)
  useEffect(() => {
    latest.current = ear
  })
  useEffect(() => {
    const call: Ear = (news) => latest.current(news)
    ears.add(call)
    return () => {
      ears.delete(call)
    }
  }, [])
}

const pause = 3_000 // ms until a stream that was refused is opened again

/**
 * follow opens one stream for all tabs of this browser, of which only few may
 * be open at a time: the tab that has the lock reads it and tells the others.
 * Without locks, which plain http does not have, each tab reads it while it is shown.
 */
export function follow(): () => void {
  if (!navigator.locks) return whileShown(() => listen(setLink, hear))
  const channel = new BroadcastChannel('trunkline-news')
  const ended = new AbortController()
  channel.onmessage = (event: MessageEvent<{ news?: News; link?: Link }>) => {
    if (event.data.news) hear(event.data.news)
    if (event.data.link) setLink(event.data.link)
  }
  const said = (next: Link) => {
    setLink(next)
    channel.postMessage({ link: next })
  }
  const heard = (news: News) => {
    hear(news)
    channel.postMessage({ news })
  }
  void navigator.locks
    .request('trunkline-stream', { signal: ended.signal }, () => {
      const stop = listen(said, heard)
      return new Promise<void>((done) => {
        ended.signal.addEventListener('abort', () => {
          stop()
          done()
        })
      })
    })
    .catch(() => undefined)
  return () => {
    ended.abort()
    channel.close()
  }
}

/** whileShown runs something only while the tab is to be seen. */
function whileShown(run: () => () => void): () => void {
  let stop: (() => void) | undefined
  const look = () => {
    const shown = document.visibilityState === 'visible'
    if (shown) stop ??= run()
    else {
      stop?.()
      stop = undefined
    }
  }
  look()
  document.addEventListener('visibilitychange', look)
  return () => {
    document.removeEventListener('visibilitychange', look)
    stop?.()
  }
}

/** listen reads the stream, and opens it again when it was lost, until it is stopped. */
function listen(said: (next: Link) => void, heard: (news: News) => void): () => void {
  let stream: EventSource
  let again: ReturnType<typeof setTimeout> | undefined
  let lost = true
  const open = () => {
    stream = new EventSource(`${root}/chats/stream`)
    stream.onopen = () => {
      said('live')
      // What happened meanwhile, or before the stream began, is in the lists.
      if (lost) heard({ kind: 'resync', data: {} })
      lost = false
    }
    stream.onerror = () => {
      lost = true
      said('lost')
      // The browser gives up when something answered, such as a proxy before a server that restarts.
      if (stream.readyState === EventSource.CLOSED) again = setTimeout(open, pause)
    }
    for (const kind of kinds) {
      stream.addEventListener(kind, (event) => heard({ kind, data: JSON.parse((event as MessageEvent<string>).data) }))
    }
  }
  open()
  return () => {
    clearTimeout(again)
    stream.close()
  }
}
