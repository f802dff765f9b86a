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

function hear(news: News) {
  if (news.kind === 'resync') void client.invalidateQueries()
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

/**
 * follow opens one stream for all tabs of this browser, of which only few may
 * be open at a time: the tab that has the lock reads it and tells the others.
 */
export function follow(): () => void {
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
  void navigator.locks
    .request('trunkline-stream', { signal: ended.signal }, () => {
      const stream = new EventSource(`${root}/chats/stream`)
      let lost = true // what happened before the stream began is in the lists
      stream.onopen = () => {
        said('live')
        if (lost) {
          // What happened meanwhile is in the lists.
          void client.invalidateQueries()
          channel.postMessage({ news: { kind: 'resync', data: {} } })
        }
        lost = false
      }
      stream.onerror = () => {
        lost = true
        said('lost')
      }
      for (const kind of kinds) {
        stream.addEventListener(kind, (event) => {
          const news: News = { kind, data: JSON.parse((event as MessageEvent<string>).data) }
          hear(news)
          channel.postMessage({ news })
        })
      }
      return new Promise<void>((done) => {
        ended.signal.addEventListener('abort', () => {
          stream.close()
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
