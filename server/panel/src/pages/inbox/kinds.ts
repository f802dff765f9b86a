import type { Reference } from '../../ui/reference-choice'

const kinds = ['buttons', 'list', 'poll', 'location', 'contacts'] as const

/** Kind is a kind of message that has a form. */
export type Kind = (typeof kinds)[number]

/** kindsOf are the kinds of messages with a form that a reference sends as they are. */
export function kindsOf(reference: Reference): Kind[] {
  return kinds.filter((kind) => reference.capabilities.send.includes(kind))
}
