import { useEffect, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { api, got, type Schemas } from '../../api/client'
import { usePages } from '../../api/query'
import { t, time } from '../../text'
import { Check, Input } from '../../ui/field'
import { Failed, Loading, More } from '../../ui/parts'
import type { Reference } from '../../ui/reference-choice'
import { useFilter } from '../../ui/query-state'

type Hit = Schemas['MessagingFoundMessage']

const pause = 250 // ms after the last key until a search begins

/** useLater is a value once it has not changed for a while. */
function useLater(value: string): string {
  const [later, setLater] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setLater(value), pause)
    return () => clearTimeout(timer)
  }, [value])
  return later
}

/** secondsOf is the beginning of a day of the reader, and of the day after it. */
function secondsOf(day: string, after = 0): number | undefined {
  const [year, month, date] = day.split('-').map(Number)
  return year && month && date ? new Date(year, month - 1, date + after).getTime() / 1000 : undefined
}

/** Found lists the messages of all conversations in which words are found, the newest first. */
export function Found({ reference, references, text }: { reference: number; references: Reference[]; text: string }) {
  const q = useLater(text.trim())
  const [from, setFrom] = useFilter('from', true)
  const [to, setTo] = useFilter('to', true)
  const [only, setOnly] = useFilter('only', true)
  const [narrow] = useState(from + to + only !== '') // then it opens and closes by itself
  const narrowed = { q, limit: 50, ...(only ? { reference } : {}), ...bounds(from, to) }
  const list = usePages(['found', narrowed], (cursor) => got(api.GET('/chats/messages/search', { params: { query: { ...narrowed, ...(cursor ? { cursor } : {}) } } })), q !== '')
  // A page may have no messages, and a next one.
  const sparse = list.items.length === 0 && list.hasNextPage && !list.isFetching && !list.error
  useEffect(() => {
    if (sparse) void list.fetchNextPage()
  }, [sparse])
  return (
    <>
      <details className="inbox-search" open={narrow}>
        <summary className="small">{t('found.narrow')}</summary>
        <div className="stack tight">
          <Input label={t('found.from')} type="date" value={from} max={to} onChange={(event) => setFrom(event.target.value)} />
          <Input label={t('found.to')} type="date" value={to} min={from} onChange={(event) => setTo(event.target.value)} />
          {references.length > 1 && <Check label={t('found.only')} checked={only !== ''} onChange={(event) => setOnly(event.target.checked ? '1' : '')} />}
        </div>
      </details>
      {q === '' && <p className="empty">{t('found.begin')}</p>}
      {q !== '' && list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {q !== '' && list.isSuccess && list.items.length === 0 && !list.hasNextPage && <p className="empty">{t('found.nothing')}</p>}
      {q !== '' && list.items.length > 0 && (
        <div className="inbox-found" role="region" aria-label={t('found.title')} tabIndex={0}>
          <ul>
            {list.items.map((hit) => (
              <li key={`${hit.message.reference} ${hit.message.id}`}>
                <Row hit={hit} of={references.length > 1 ? references.find((one) => one.id === hit.message.reference)?.name : undefined} />
              </li>
            ))}
          </ul>
          <More list={list} />
        </div>
      )}
    </>
  )
}

function bounds(from: string, to: string): { from?: number; to?: number } {
  const begin = secondsOf(from)
  const end = secondsOf(to, 1)
  return { ...(begin === undefined ? {} : { from: begin }), ...(end === undefined ? {} : { to: end }) }
}

/** Row leads to a message in its thread; what was searched for stays. */
function Row({ hit, of }: { hit: Hit; of: string | undefined }) {
  const [params] = useSearchParams()
  const { message } = hit
  const next = new URLSearchParams(params)
  next.delete('show')
  next.set('message', message.id)
  return (
    <Link className="chat-row" href={`/inbox/${message.reference}/${encodeURIComponent(message.chatId)}?${next}`} aria-current={params.get('message') === message.id ? 'true' : undefined} data-row>
      <span className="chat-line">
        <strong className="clip" dir="auto">
          {hit.chatName || message.chatId}
        </strong>
        <span className="small mute chat-time">{time(message.messageTimestamp)}</span>
      </span>
      {of && <span className="small mute clip">{of}</span>}
      <span className="found-excerpt" dir="auto">
        {message.mine && <span className="mute">{t('found.mine')} </span>}
        {hit.excerpt.map((part, at) => (part.match ? <mark key={at}>{part.text}</mark> : part.text))}
      </span>
    </Link>
  )
}
