import { useEffect, useState } from 'react'
import { api, got } from '../../api/client'
import { useNews } from '../../api/live'
import { t } from '../../text'
import { toast } from '../../ui/toast'
import type { Message } from './preview'

/** Part is a part of a thread around a message, the newest first, with where to go on in both directions. */
interface Part {
  items: Message[]
  older: string | null
  newer: string | null
}

const reading = new Set<string>()
const isIn = (items: Message[], id: string) => items.some((message) => message.id === id || message.requestId === id)

/**
 * useAround reads what surrounds a message that is older than all that is known of its thread.
 * It is undefined while the newest messages are shown; leave shows these again.
 */
export function useAround(reference: number, chatId: string, id: string, newest: Message[] | undefined, leave: () => void) {
  const [part, setPart] = useState<Part>()
  const near = newest && id !== '' && isIn(newest, id)
  const here = part && id !== '' && isIn(part.items, id)
  const read = (where: { before: string } | { after: string }) => got(api.GET('/chats/messages', { params: { query: { reference, chatId, limit: 50, ...where } } }))
  useEffect(() => {
    if (!id || near) setPart(undefined)
    if (!id || !newest || near || here) return
    let ended = false
    const message = got(api.GET('/messages/{messageId}', { params: { path: { messageId: id }, query: { reference } } }))
    Promise.all([read({ before: id }), message, read({ after: id })]).then(
      ([before, one, after]) => ended || setPart({ items: [...after.items, one, ...before.items], older: before.next, newer: after.next }),
      () => {
        if (ended) return
        toast('bad', t('inbox.gone'))
        leave()
      },
    )
    return () => {
      ended = true
    }
  }, [id, newest === undefined, near, here])
  useNews((news) => {
    if (news.kind === 'resync') setPart(undefined)
    if (news.kind === 'status' && news.data.reference === reference) {
      setPart((now) => now && { ...now, items: now.items.map((one) => (one.id === news.data.id ? { ...one, status: news.data.status as Message['status'] } : one)) })
    }
  })
  const more = (where: { before: string } | { after: string }) => {
    const name = `${reference} ${chatId} ${JSON.stringify(where)}`
    if (reading.has(name)) return
    reading.add(name)
    void read(where)
      .then((page) =>
        setPart((now) => {
          if (!now) return now
          if ('before' in where) return now.older === where.before ? { ...now, items: [...now.items, ...page.items], older: page.next } : now
          return now.newer === where.after ? { ...now, items: [...page.items, ...now.items], newer: page.next } : now
        }),
      )
      .catch((error: Error) => toast('bad', error.message))
      .finally(() => reading.delete(name))
  }
  if (!part || !id) return undefined
  return {
    items: part.items,
    readOlder: () => part.older && more({ before: part.older }),
    readNewer: () => (part.newer ? more({ after: part.newer }) : leave()),
  }
}
