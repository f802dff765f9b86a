import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useMay } from '../../session'
import { t } from '../../text'
import { Icon } from '../../ui/icon'
import { isShortcut } from '../../ui/shortcut'
import { fold, type Folded, isRefused } from './fold'
import { again, contentOf, discard, outgoingOf, shownAs, submit, useOutgoing } from './outgoing'
import type { Message } from './preview'

/** useShown is what a thread shows: a part around a message, or the newest messages, and those on their way. */
export function useShown(reference: number, chatId: string, newest: Message[], around: Message[] | undefined): Folded {
  const outgoing = useOutgoing(reference, chatId)
  const there = useMemo(() => new Set(newest.map((message) => message.clientId)), [newest])
  const known = outgoing.filter((item) => there.has(item.key)).map((item) => item.key)
  useEffect(() => {
    if (known.length > 0) discard(`${reference} ${chatId}`, known)
  }, [known.join()])
  return useMemo(() => {
    if (around) return fold(around.toReversed())
    return fold([...newest.toReversed(), ...outgoing.filter((item) => !there.has(item.key)).map(shownAs)])
  }, [newest, around, outgoing])
}

/** useView is where a thread is looked at: at its end, or away from it, where new messages are counted. */
export function useView(messages: Message[], byId: Folded['byId'], wanted: string, want: (id: string) => void) {
  const [jump, setJump] = useState<{ id: string | null }>()
  const [left, setLeft] = useState<string | null>(null)
  useEffect(() => {
    if (wanted) setJump({ id: wanted })
  }, [wanted])
  const target = jump?.id ? (byId.get(jump.id)?.id ?? jump.id) : null
  const goTo = useMemo(() => jump && { id: target }, [jump, target])
  const newest = () => {
    if (wanted) want('')
    setJump({ id: null })
  }
  const latest = useRef(want)
  latest.current = want
  const show = useCallback((id: string) => {
    latest.current(id)
    setJump({ id })
  }, [])
  const seen = left === null ? -1 : messages.findIndex((one) => one.id === left)
  const count = seen < 0 ? 0 : messages.slice(seen + 1).filter((one) => !one.mine).length
  const atEnd = (yes: boolean) => setLeft(yes ? null : (messages.at(-1)?.id ?? null))
  return { goTo, marked: wanted ? target : null, newest, show, view: { away: left !== null, count, atEnd } }
}

/** Newest leads to the end of the thread, and says how many messages have come there. */
export function Newest({ count, go }: { count: number; go: () => void }) {
  const label = count > 0 ? t('inbox.newestOf', { n: count }) : t('inbox.newest')
  return (
    <button type="button" className="button newest" onClick={go}>
      <Icon name="down" />
      {label}
    </button>
  )
}

/** Retry is how a message that failed is sent again; discard forgets one of which the server has no record. */
export interface Retry {
  run: () => void
  discard?: () => void
}

const retried = new Set<string>()

/** useAgain is how a message that failed is sent again, if that is known: one that the network refused is another message then. */
export function useAgain(reference: number, chatId: string, sent: () => unknown) {
  const latest = useRef(sent)
  latest.current = sent
  const may = useMay('chats.send')
  return useMemo(() => {
    if (!may) return undefined
    const ways = { sent: () => latest.current(), refused: () => false }
    return (message: Message): Retry | undefined => {
      if (message.status !== 'FAIL') return undefined
      const item = outgoingOf(reference, chatId, message.id)
      if (item) return { run: () => again(item, ways), discard: () => discard(item.chat, [item.key]) }
      if (!isRefused(message)) return undefined
      const content = contentOf(message.clientId) ?? (message.type === 'text' && message.requestId && !message.template && !message.sentAs ? { type: 'text' as const, text: message.text } : undefined)
      if (!content || retried.has(message.id)) return undefined
      return {
        run: () => {
          if (retried.has(message.id)) return
          retried.add(message.id)
          // One key for all tabs, reloads and people who try the same message again.
          submit(reference, chatId, content, message.context?.messageId, ways, undefined, message.requestId && `again-${message.requestId}`)
        },
      }
    }
  }, [reference, chatId, may])
}

/** useReplyKey answers the contact's last message when r is pressed. */
export function useReplyKey(reply: (() => void) | undefined) {
  const latest = useRef(reply)
  latest.current = reply
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'r' || !latest.current || !isShortcut(event)) return
      event.preventDefault()
      latest.current()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}
