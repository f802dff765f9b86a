import { useQuery } from '@tanstack/react-query'
import { memo, useState } from 'react'
import { api, got } from '../../api/client'
import { day, t, time } from '../../text'
import { Badge, Button } from '../../ui/parts'
import { Attachment } from './attachment'
import type { Changes } from './fold'
import { type Message, preview } from './preview'
import type { Retry } from './view'

interface Props {
  message: Message
  before: Message | undefined
  /** Whether it is what was looked for. */
  marked?: boolean
  again?: ((message: Message) => Retry | undefined) | undefined
  changes?: Changes | undefined
  /** What it answers, if that is among the messages that are shown. */
  quoted?: Message | undefined
  quotedNow?: Changes | undefined
  /** Shows another message of the thread. */
  jump: (id: string) => void
  answer: ((message: Message) => void) | undefined
  explain: (message: Message) => void
}

const dateOf = (message: Message) => new Date(message.messageTimestamp * 1000).toDateString()

/** Bubble is one message. Whatever it holds is shown as text: strangers wrote it. */
export const Bubble = memo(function Bubble({ message, before, marked, again, changes, quoted, quotedNow, jump, answer, explain }: Props) {
  return (
    <>
      {(!before || dateOf(before) !== dateOf(message)) && <p className="day">{day(message.messageTimestamp)}</p>}
      <div className={`bubble-row ${message.mine ? 'mine' : ''}`}>
        <div className={`bubble ${marked ? 'marked' : ''}`} aria-current={marked || undefined}>
          {message.participant && (
            <p className="small" dir="auto">
              <strong>{message.participant.pushName || message.participant.remoteJid}</strong>
            </p>
          )}
          {message.context?.messageId && <Quote of={message} quoted={quoted} now={quotedNow} jump={jump} />}
          {(message.revoked || changes?.deleted) && <p className="mute">{t('inbox.revoked')}</p>}
          {message.poll?.messageId && <p className="small mute">{t('inbox.vote')}</p>}
          {!changes?.deleted && <Content message={message} text={changes?.text} />}
          {message.poll?.results && !changes?.deleted && (
            <p className="row">
              <span className="small mute">{t('inbox.votes')}</span>
              {message.poll.results.map((result, at) => (
                <Badge key={at} tone={result.votes > 0 ? 'brand' : 'none'}>
                  <bdi>{`${result.option}: ${result.votes}`}</bdi>
                </Badge>
              ))}
            </p>
          )}
          <p className="bubble-foot small">
            {(message.edited || changes?.text !== undefined) && !changes?.deleted && <span>{t('inbox.edited')}</span>}
            {message.mine && message.actor !== 'user' && <span>{t(`actor.${message.actor}`)}</span>}
            <span>{time(message.messageTimestamp)}</span>
            {message.mine && <State message={message} />}
          </p>
          {changes && changes.reactions.length > 0 && (
            <p className="reactions" aria-label={t('inbox.reactions')}>
              {changes.reactions.join(' ')}
            </p>
          )}
          {message.extracted && Object.keys(message.extracted).length > 0 && (
            <p className="row">
              {Object.entries(message.extracted).map(([name, value]) => (
                <Badge key={name} tone="brand">
                  {name}: {typeof value === 'string' ? value : JSON.stringify(value)}
                </Badge>
              ))}
            </p>
          )}
          {message.error && (
            <p className="small bubble-error" role="note">
              {message.error.message}
            </p>
          )}
          {message.mine && message.status === 'FAIL' && <Again message={message} again={again} />}
        </div>
        <div className="bubble-acts">
          {answer && message.id !== message.clientId && (
            <Button tone="quiet" onClick={() => answer(message)}>
              {t('inbox.reply')}
            </Button>
          )}
          {message.id !== message.clientId && (
            <Button tone="quiet" onClick={() => explain(message)}>
              {t('inbox.why')}
            </Button>
          )}
        </div>
      </div>
    </>
  )
})

/** Again offers what can be done about a message that failed. */
function Again({ message, again }: { message: Message; again: Props['again'] }) {
  const [done, setDone] = useState(false)
  const retry = again?.(message)
  if (!retry || done) return null
  return (
    <p className="row">
      <Button
        onClick={() => {
          retry.run()
          setDone(!retry.discard)
        }}
      >
        {t('again')}
      </Button>
      {retry.discard && (
        <Button tone="quiet" onClick={retry.discard}>
          {t('leave.discard')}
        </Button>
      )}
    </p>
  )
}

const marks: Record<Message['status'], string> = { PENDING: '◷', SENDING: '✓', DELIVERED: '✓✓', READ: '✓✓', PLAYED: '▶', FAIL: '!' }

function State({ message }: { message: Message }) {
  return (
    <span className={message.status === 'FAIL' ? 'bubble-error' : ''}>
      <span aria-hidden="true">{marks[message.status]}</span> {t(`status.${message.status}`)}
    </span>
  )
}

/** Quote shows what a message answers, and leads there. */
function Quote({ of, quoted, now, jump }: { of: Message; quoted: Message | undefined; now: Changes | undefined; jump: Props['jump'] }) {
  const id = of.context?.messageId ?? ''
  const { reference } = of
  // What is older than all that was read is read alone.
  const alone = useQuery({
    queryKey: ['message', reference, id],
    queryFn: () => got(api.GET('/messages/{messageId}', { params: { path: { messageId: id }, query: { reference } } })).catch(() => null),
    enabled: !quoted,
    staleTime: Infinity,
  })
  const message = quoted ?? alone.data
  if (!message) return <p className="small mute">{t('inbox.answerTo')}</p>
  return (
    <button type="button" className="quote small" title={t('inbox.showQuoted')} onClick={() => jump(message.id)}>
      <strong className="clip" dir="auto">
        {message.mine ? t('inbox.you') : message.participant?.pushName || message.pushName || message.chatId}
      </strong>
      <span className="clip" dir="auto">
        {now?.deleted ? t('inbox.revoked') : (now?.text ?? preview(message))}
      </span>
    </button>
  )
}

/** Content is what a message holds; text is what became of its words. */
function Content({ message, text }: { message: Message; text: string | undefined }) {
  if (message.type === 'text') return <Text message={message} text={text} />
  const caption = text ?? ('caption' in message ? message.caption : '')
  const name = message.type === 'document' ? message.fileName || message.title : undefined
  return (
    <>
      {message.fileUrl ? <Attachment type={message.sticker ? 'sticker' : message.type} url={message.fileUrl} name={name} /> : <p className="mute">{t('inbox.fileMissing')}</p>}
      {caption && <Words text={caption} />}
    </>
  )
}

function Text({ message, text }: { message: Extract<Message, { type: 'text' }>; text: string | undefined }) {
  return (
    <>
      <Words text={text ?? message.text} />
      {message.contacts?.map((card, at) => (
        <p key={at} className="small" dir="auto">
          {card.phones?.map((phone) => phone.phone).join(', ')}
        </p>
      ))}
    </>
  )
}

const address = /\bhttps?:\/\/[^\s<>"']+/g

/** Words is a text in which only plain addresses are links. */
export function Words({ text }: { text: string }) {
  const parts: React.ReactNode[] = []
  let from = 0
  for (const found of text.matchAll(address)) {
    if (found.index > from) parts.push(text.slice(from, found.index))
    parts.push(
      <a key={found.index} href={found[0]} target="_blank" rel="noopener noreferrer nofollow">
        {found[0]}
      </a>,
    )
    from = found.index + found[0].length
  }
  parts.push(text.slice(from))
  return (
    <p className="words" dir="auto">
      {parts}
    </p>
  )
}
