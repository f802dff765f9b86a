import type { Schemas } from '../../api/client'

export type Reference = Schemas['MessagingReference']

/** Kind is a type of reference that the panel knows. */
export type Kind = 'provider-sandbox' | 'provider-web' | 'provider-cloud' | 'provider-messenger'
