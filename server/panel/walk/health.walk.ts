import { createServer, type Server as Listener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

const server = new Server(['--webhook-allow', '127.0.0.1/32', '--quota-references', '0', '--quota-api', '0'])
let visitor: Visitor
let token: string
let reference: number
let receiver: Listener
let status = 400
let url: string

beforeAll(async () => {
  receiver = createServer((request, response) => {
    request.resume()
    response.writeHead(status).end('no')
  })
  await new Promise<void>((ready) => receiver.listen(0, '127.0.0.1', ready))
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  await server.start()
  visitor = await Visitor.open(server)
  token = await visitor.signUp(server)
  reference = (await server.call<{ id: number }>(token, 'POST', '/reference', { name: 'Phone', type: 'provider-sandbox' })).id
  await server.call(token, 'POST', '/references/registerWebHook', { reference, webhook: url, events: ['message'] })
})

afterAll(async () => {
  await visitor.end(server)
  receiver.closeAllConnections()
  receiver.close()
})

const write = (text: string, from = 'ana') => server.call(token, 'POST', `/sandbox/${reference}/messages`, { from, name: from, type: 'text', text })
const home = () => visitor.page.getByRole('navigation').getByRole('link', { name: 'Home' }).click()

test('an endpoint that refuses everything is red, with its rate and last error, as it happens', async () => {
  const { page } = visitor
  await page.goto(`${server.url}/panel/webhooks/${reference}`)
  const card = page.getByRole('article', { name: url })
  await card.getByText('ok', { exact: true }).waitFor()
  await write('one')
  await card.getByText('failing', { exact: true }).waitFor()
  await card.getByText('1 of the last 1 attempts failed (100%).').waitFor()
  await card.getByRole('alert').getByText('400').waitFor()
  await visitor.look('webhooks-failing')
  await home()
  const failing = page.getByRole('region', { name: 'Failing webhooks' })
  await failing.getByText('failing', { exact: true }).waitFor()
  await write('two')
  await failing.getByText('2 of the last 2 attempts failed (100%).').waitFor()
  status = 200
  await write('three')
  await failing.getByText('All webhooks work.').waitFor()
})

test('a paused endpoint is on Home', async () => {
  const { page } = visitor
  status = 503
  for (let at = 0; at < 8; at++) await write('down', `person${at}`)
  const failing = page.getByRole('region', { name: 'Failing webhooks' })
  await failing.getByText('paused', { exact: true }).waitFor()
  status = 200
})

test('Home counts all references, follows their states, and shows failed runs', async () => {
  const { page } = visitor
  for (let at = 0; at < 205; at++) await server.call(token, 'POST', '/reference', { name: `Reference ${at}`, type: 'provider-sandbox' })
  const project = await server.call<{ id: string }>(token, 'POST', '/aiflow/project', { name: 'Shop', description: '' })
  const nodes = { start: { type: 'trigger', config: { on: [{ kind: 'any_message' }] }, next: { out: 'fail' } }, fail: { type: 'http', config: { method: 'GET', url: 'http://127.0.0.1:1/' } } }
  const draft = { format: 'trunkline-flow/1', kind: 'flow', name: 'Order', slug: 'order', start: 'start', variables: {}, nodes }
  const flow = await server.call<{ id: string }>(token, 'POST', '/aiflow/flow', { projectId: project.id, name: 'Order', draft })
  await server.call(token, 'POST', `/aiflow/flow/${flow.id}/publish`)
  await page.goto(`${server.url}/panel/`)
  await page.getByText('206 of 206 connected').waitFor()
  await page.getByText('No run failed in the last 24 hours.').waitFor()
  await server.call(token, 'POST', '/reference/session/logout', { reference })
  await page.getByText('205 of 206 connected').waitFor()
  await server.call(token, 'POST', '/aiflow/run', { flowId: flow.id, chatId: null, input: {} })
  await page.getByRole('region', { name: 'Failed runs' }).getByRole('alert').waitFor()
  await visitor.look('home-trouble')
  await page.getByRole('region', { name: 'Failed runs' }).getByRole('alert').getByRole('link').click()
  await page.getByRole('heading', { name: 'Steps' }).waitFor()
})

test('Home shows only what the user may do', async () => {
  const { page } = visitor
  const user = { email: 'ben@example.com', name: 'Ben', password: 'correct horse battery', permissions: ['references.read', 'chats.read'] }
  await server.call(token, 'POST', '/user', user)
  await visitor.context.clearCookies()
  visitor.expected.push(/403 \(Forbidden\)/)
  await page.goto(`${server.url}/panel/`)
  await page.getByRole('main').getByLabel('E-mail').fill(user.email)
  await page.getByLabel('Password').fill(user.password)
  await page.locator('form').getByRole('button', { name: 'Log in' }).click()
  await page.getByText('205 of 206 connected').waitFor()
  expect(await page.getByRole('region', { name: 'Failed runs' }).count()).toBe(0)
  expect(await page.getByRole('region', { name: 'Failing webhooks' }).count()).toBe(0)
  expect(await page.getByText('Add a webhook').count()).toBe(0)
  expect(await page.getByText('Publish a bot').count()).toBe(0)
})
