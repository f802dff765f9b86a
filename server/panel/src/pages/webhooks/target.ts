import type { Schemas } from '../../api/client'

export type Endpoint = Schemas['Endpoint']

/** echo is the receiver that sandbox references have built in. */
export const echo = 'trunkline://echo'
