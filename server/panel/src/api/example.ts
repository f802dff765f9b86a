// The program of docs/client.md, which is checked with the panel's own sources.
import createClient from 'openapi-fetch'
import type { components, paths } from './schema'

export async function greet(baseUrl: string, token: string): Promise<components['schemas']['MessagingMessage'] | undefined> {
  const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } })
  const { data, error } = await api.POST('/chats/send', {
    params: { header: { 'Idempotency-Key': crypto.randomUUID() } },
    body: { reference: 1, chatId: 'ana@sandbox', message: { type: 'text', text: 'Hello' } },
  })
  if (error) throw new Error(`${error.code}: ${error.detail}`)
  return 'message' in data ? data.message : undefined
}
