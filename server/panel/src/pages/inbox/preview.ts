import type { Schemas } from '../../api/client'
import { t } from '../../text'

export type Message = Schemas['MessagingMessage']

/** preview is a message in a line of text. */
export function preview(message: Message): string {
  if (message.type === 'text') return message.text
  const caption = 'caption' in message ? message.caption : ''
  return caption ? `${t(`media.${message.type}`)}: ${caption}` : t(`media.${message.type}`)
}
