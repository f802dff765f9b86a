import { useSyncExternalStore } from 'react'
import { fresh } from '../../api/alive'
import { api, got, Problem, type Schemas } from '../../api/client'
import { t } from '../../text'
import type { Message } from './preview'
import { upload } from './upload'

export type Content = Schemas['SendInputBody']['message']

/** Outgoing is a message of this tab that is not yet known to be in its chat. */
export interface Outgoing {
  /** Names the message to the server, as its clientId and Idempotency-Key: however often it is sent, the contact gets it once. */
  key: string
  chat: string
  reference: number
  chatId: string
  content: Content
  answers?: string | undefined
  /** What is uploaded first, and where the browser shows it; a reload loses it. */
  file?: File | undefined
  preview?: string | undefined
  at: number
  state: 'waiting' | 'sent' | 'failed'
  error?: string
}

/** Ways says what comes of a message: refused may take back one of which the server keeps nothing. */
export interface Ways {
  sent: () => unknown
  refused: (item: Outgoing, problem: Problem) => boolean
}

const stored = 'trunkline.outgoing'
const nameOf = (reference: number, chatId: string) => `${reference} ${chatId}`
const none: Outgoing[] = []

let all: ReadonlyMap<string, Outgoing[]> = read()
const contents = new Map<string, Content>() // of what was sent, by its key
const watchers = new Set<() => void>()
const turns = new Map<string, Promise<void>>()

/** read is what a reload interrupted: the server may have it, or not. */
function read(): Map<string, Outgoing[]> {
  const out = new Map<string, Outgoing[]>()
  for (const { error: _error, preview: _preview, ...item } of JSON.parse(sessionStorage.getItem(stored) ?? '[]') as Outgoing[]) {
    out.set(item.chat, [...(out.get(item.chat) ?? []), { ...item, state: 'failed' }])
  }
  return out
}

function change(chat: string, make: (items: Outgoing[]) => Outgoing[]) {
  all = new Map(all).set(chat, make(all.get(chat) ?? none))
  const items = [...all.values()].flat().filter((item) => !item.file)
  if (items.length > 0) sessionStorage.setItem(stored, JSON.stringify(items))
  else sessionStorage.removeItem(stored)
  watchers.forEach((tell) => tell())
}

const update = (item: Outgoing, part: Partial<Outgoing>) => change(item.chat, (items) => items.map((one) => (one.key === item.key ? { ...one, ...part } : one)))

/** useOutgoing is what is on its way to a chat, in its order. */
export function useOutgoing(reference: number, chatId: string): Outgoing[] {
  return useSyncExternalStore(
    (tell) => {
      watchers.add(tell)
      return () => watchers.delete(tell)
    },
    () => all.get(nameOf(reference, chatId)) ?? none,
  )
}

/** outgoingOf is a message that is on its way to a chat. */
export const outgoingOf = (reference: number, chatId: string, key: string) => all.get(nameOf(reference, chatId))?.find((one) => one.key === key)

/** submit shows a message in its thread, and sends it after those before it; a file is uploaded first. */
export function submit(reference: number, chatId: string, content: Content, answers: string | undefined, ways: Ways, file?: File, key = fresh()) {
  const item: Outgoing = {
    key,
    chat: nameOf(reference, chatId),
    reference,
    chatId,
    content,
    answers,
    at: Math.floor(Date.now() / 1000),
    state: 'waiting',
    ...(file ? { file, preview: URL.createObjectURL(file) } : {}),
  }
  change(item.chat, (items) => [...items, item])
  enqueue(item, ways)
}

/** again sends a message whose outcome is unknown, under the same key. */
export function again(item: Outgoing, ways: Ways) {
  const now = all.get(item.chat)?.find((one) => one.key === item.key)
  if (now?.state !== 'failed') return
  update(item, { state: 'waiting' })
  enqueue(now, ways)
}

/** discard forgets messages: because they were not sent, or because their records are in the thread. */
export function discard(chat: string, keys: string[]) {
  for (const item of all.get(chat) ?? none) if (item.preview && keys.includes(item.key)) URL.revokeObjectURL(item.preview)
  change(chat, (items) => items.filter((one) => !keys.includes(one.key)))
}

/** contentOf is what a message of this tab was made of. */
export const contentOf = (key: string | undefined) => (key ? contents.get(key) : undefined)

function enqueue(item: Outgoing, ways: Ways) {
  const turn = (turns.get(item.chat) ?? Promise.resolve()).then(() => run(item, ways))
  turns.set(item.chat, turn)
}

async function run(item: Outgoing, ways: Ways) {
  const { reference, chatId, key, answers } = item
  try {
    const message = item.file ? await uploaded(item, item.file) : item.content
    contents.set(key, message)
    const body = { reference, chatId, message, clientId: key, ...(answers ? { context: { messageId: answers } } : {}) }
    await got(api.POST('/chats/send', { body, params: { header: { 'Idempotency-Key': key } } }))
    update(item, { state: 'sent' })
  } catch (error) {
    if (!(error instanceof Problem && isRefusal(error) && ways.refused(item, error))) {
      update(item, { state: 'failed', error: error instanceof Problem && error.status === 0 ? t('offline') : reasonOf(error as Error) })
    }
  }
  await ways.sent()
}

/** uploaded is the content of a message with a file, once the server has the file. */
async function uploaded(item: Outgoing, file: File): Promise<Content> {
  const media = await upload(item.reference, file)
  const caption = captionOf(item.content)
  const content = { ...media, ...(caption ? { caption } : {}) }
  update(item, { content, file: undefined })
  return content
}

const captionOf = (content: Content) => ('caption' in content ? (content.caption ?? '') : '')

/** isRefusal says whether a problem is one of the request, so that the server keeps nothing of it. */
const isRefusal = ({ status, code }: Problem) => status >= 400 && status < 500 && ![408, 429].includes(status) && code !== 'conflict'

/** reasonOf is what is wrong with a request, in words. */
export const reasonOf = (error: Error) => (error instanceof Problem && error.errors[0]?.message) || error.message

/** shownAs is how a message looks before the server has it. */
export function shownAs(item: Outgoing): Message {
  const { content, reference, chatId } = item
  const failed = item.state === 'failed'
  const common = {
    id: item.key,
    clientId: item.key,
    chatId,
    remoteJid: chatId,
    reference,
    ref: reference,
    direction: 'out' as const,
    mine: true,
    actor: 'user' as const,
    pushName: '',
    verifiedBizName: '',
    messageTimestamp: item.at,
    status: failed ? ('FAIL' as const) : item.state === 'sent' ? ('SENDING' as const) : ('PENDING' as const),
    error: failed ? { code: 'unknown', message: item.error ?? t('inbox.unknown') } : null,
    ...(item.answers ? { context: { messageId: item.answers } } : {}),
  }
  if (content.type === 'text') return { ...common, type: 'text', text: content.text }
  const name = ('fileName' in content && content.fileName) || ''
  return { ...common, type: content.type, caption: captionOf(content), fileName: name, title: name, fileUrl: item.preview ?? '' } as Message
}
