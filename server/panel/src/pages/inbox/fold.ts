import type { Message } from './preview'

/** Changes are what later messages say of one. */
export interface Changes {
  /** The new text. */
  text?: string
  deleted?: boolean
  /** One for each person, in the order in which they reacted. */
  reactions: string[]
}

export interface Folded {
  /** The messages without those that only change another. */
  shown: Message[]
  changes: ReadonlyMap<string, Changes>
  /** Messages by all of their ids; one that changes another leads to that. */
  byId: ReadonlyMap<string, Message>
}

const authorOf = (message: Message) => (message.mine ? 'mine' : (message.participant?.remoteJid ?? 'contact'))
const targetOf = (message: Message) => (message.status === 'FAIL' ? undefined : (message.edited ?? message.revoked ?? message.reaction)?.messageId)

/** fold applies edits, deletions and reactions to the messages they are about, the oldest first. One about a message that is not there stays a message. */
export function fold(messages: Message[]): Folded {
  const byId = new Map<string, Message>()
  const changes = new Map<string, Changes>()
  const reactions = new Map<string, Map<string, string>>()
  const shown = messages.filter((message) => {
    const target = byId.get(targetOf(message) ?? '')
    const applied = target !== undefined && apply(message, target)
    for (const id of [message.id, message.requestId]) if (id) byId.set(id, applied ? target : message)
    return !applied
  })
  for (const [id, ofAuthors] of reactions) changeOf(id).reactions = [...ofAuthors.values()].filter(Boolean)
  return { shown, changes, byId }

  function changeOf(id: string): Changes {
    const known = changes.get(id) ?? { reactions: [] }
    changes.set(id, known)
    return known
  }

  function apply(message: Message, target: Message): boolean {
    if (message.reaction) {
      const ofAuthors = reactions.get(target.id) ?? new Map<string, string>()
      reactions.set(target.id, ofAuthors)
      ofAuthors.set(authorOf(message), message.reaction.emoji)
      return true
    }
    if (authorOf(message) !== authorOf(target)) return false // nobody changes what another wrote, nor does another member of a group
    if (message.revoked) changeOf(target.id).deleted = true
    else if (message.type === 'text') changeOf(target.id).text = message.text
    else return false
    return true
  }
}

/** isRefused says that a message was certainly not sent: one whose outcome the server does not know may be with the contact. */
export const isRefused = (message: Message) => message.status === 'FAIL' && message.error?.code !== 'unconfirmed'
