import { afterAll, beforeAll, test } from 'vitest'
import { Server, Visitor } from './world'

/**
 * The pictures of the README. To take them anew:
 *
 *     PANEL_PICTURES=$PWD/docs/images npm --prefix server/panel run walk -- readme
 */
const server = new Server()
let visitor: Visitor
let token: string

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server, { width: 1280, height: 720 })
  token = await visitor.signUp(server)
})

afterAll(async () => {
  await visitor.end(server)
})

test('an inbox shows conversations, the phone of a contact, and what was answered', async () => {
  const { page } = visitor
  const reference = (await server.call<{ id: number }>(token, 'POST', '/reference', { name: 'Bakery', type: 'provider-sandbox' })).id
  const writes = (from: string, text: string) => server.call(token, 'POST', `/sandbox/${reference}/messages`, { from, type: 'text', text })
  const sends = (chatId: string, message: Record<string, unknown>) => server.call(token, 'POST', '/chats/send', { reference, chatId, message })
  const names: Record<string, string> = { maria: 'Maria Costa', jonas: 'Jonas Weber', lea: 'Léa Martin', sam: 'Sam Taylor' }
  await writes('sam', 'Thanks, see you on Monday')
  await writes('lea', 'Could I pick it up an hour later?')
  await writes('jonas', 'Where is my order?')
  await writes('maria', 'Hello! Are you open today?')
  for (const [chatId, name] of Object.entries(names)) await server.call(token, 'PATCH', '/chats', { reference, chatId: `${chatId}@sandbox`, name })
  await sends('maria', { type: 'text', text: 'Good morning, Maria. We are, until nine.' })
  await writes('maria', 'Do you still have the lemon cake?')
  await sends('maria', { type: 'buttons', text: 'We do, two of them. Shall we keep one for you?', buttons: [{ id: 'yes', title: 'Yes, please' }, { id: 'no', title: 'No, thank you' }] })
  await page.goto(`${server.url}/panel/inbox/${reference}/maria@sandbox`)
  await page.getByRole('region', { name: 'Messages' }).getByText('Shall we keep one for you?').waitFor()
  await page.getByRole('region', { name: /screen/ }).getByRole('button', { name: 'Yes, please' }).click()
  await page.getByRole('region', { name: 'Messages' }).getByText('Yes, please', { exact: true }).last().waitFor()
  await visitor.look('inbox')
})
