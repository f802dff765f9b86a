import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Graph } from './graph'
import { Server, Visitor } from './world'

const graph = new Graph()
let server: Server
let visitor: Visitor
let token: string
let id: number

beforeAll(async () => {
  await graph.start()
  server = new Server(['--graph-url', graph.url])
  await server.start()
  visitor = await Visitor.open(server)
  token = await visitor.signUp(server)
  const settings = { phoneNumberId: '1001', businessAccountId: '2001', accessToken: 'a token of a walk', appSecret: 'a secret of a walk', verifyToken: 'a token' }
  ;({ id } = await server.call<{ id: number }>(token, 'POST', '/reference', { name: 'Shop', type: 'provider-cloud', settings }))
})

afterAll(async () => {
  await visitor.end(server)
  graph.end()
})

/** unreadable posts a callback with a message that has no id, as the network would. */
async function unreadable(text: string) {
  const value = { messaging_product: 'whatsapp', metadata: { phone_number_id: '1001' }, messages: [{ from: '16505551234', type: 'text', text: { body: text } }] }
  const body = JSON.stringify({ object: 'whatsapp_business_account', entry: [{ id: '2001', changes: [{ field: 'messages', value }] }] })
  const signature = `sha256=${createHmac('sha256', 'a secret of a walk').update(body).digest('hex')}`
  const answer = await fetch(`${server.url}/webhooks/provider`, { method: 'POST', body, headers: { 'X-Hub-Signature-256': signature } })
  expect(answer.status).toBe(200)
}

test('callbacks that could not be read are looked at, replayed and deleted', async () => {
  const { page } = visitor
  await page.goto(`${server.url}/panel/references/${id}`)
  await page.getByRole('heading', { name: 'Health' }).waitFor()
  await expect.poll(() => page.getByRole('heading', { name: 'Callbacks that could not be read' }).count()).toBe(0)
  await unreadable('the first <b>message</b>')
  await unreadable('the second message')
  await page.reload()
  const section = page.getByRole('region', { name: 'Callbacks that could not be read' })
  const newest = section.locator('.letter').first()
  await newest.getByText('a message without an id').click()
  await newest.getByText('the second message').waitFor()
  await visitor.look('dead-letters')
  await newest.getByRole('button', { name: 'Replay', exact: true }).click()
  await page.getByText('It still cannot be read: a message without an id').waitFor()
  await newest.getByText('failed replays: 1').waitFor()
  await section.getByRole('button', { name: 'Replay all' }).click()
  await page.getByText('0 replayed, 2 remain').waitFor()
  await newest.getByText('failed replays: 2').waitFor()
  await newest.getByRole('button', { name: 'Delete', exact: true }).click()
  await visitor.look('dead-letter-delete')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await expect.poll(() => section.locator('.letter').count()).toBe(1)
  await section.getByText('a message without an id').click()
  await section.getByText('the first <b>message</b>').waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  await visitor.fits()
  await visitor.look('dead-letters-phone')
})
