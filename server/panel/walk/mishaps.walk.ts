import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

const server = new Server()
let visitor: Visitor
let token: string
let reference: number

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server)
  token = await visitor.signUp(server)
  reference = (await server.call<{ id: number }>(token, 'POST', '/reference', { name: 'Phone', type: 'provider-sandbox' })).id
  await write('price')
})

afterAll(async () => {
  await visitor.end(server)
})

const write = (text: string, from = 'ana') => server.call(token, 'POST', `/sandbox/${reference}/messages`, { from, name: from, type: 'text', text })
const inbox = (of = reference) => `${server.url}/panel/inbox/${of}/${encodeURIComponent('ana@sandbox')}`
const messages = () => visitor.page.getByRole('region', { name: 'Messages' })
const message = () => visitor.page.getByLabel('Message', { exact: true })

/** plain makes the next pages have what a page over plain http has: no locks and no randomUUID. */
async function plain() {
  const page = await visitor.context.newPage()
  visitor.watch(page, server)
  await page.addInitScript(() => {
    Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })
    Object.defineProperty(Crypto.prototype, 'randomUUID', { value: undefined })
  })
  return page
}

test('over plain http there is news, messages are sent, and drafts are kept', async () => {
  const page = await plain()
  await page.goto(inbox())
  await page.getByRole('region', { name: 'Messages' }).getByText('price', { exact: true }).waitFor()
  await write('and now')
  await page.getByRole('region', { name: 'Messages' }).getByText('and now').waitFor()
  await page.getByLabel('Message', { exact: true }).fill('sent plainly')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('region', { name: 'Messages' }).getByText('sent plainly').waitFor()

  const project = (await server.call<{ id: string }>(token, 'POST', '/aiflow/project', { name: 'Shop' })).id
  const draft = { format: 'trunkline-flow/1', kind: 'flow', slug: 'talk', name: 'Talk', start: 'start', nodes: { start: { type: 'trigger', config: { on: [{ kind: 'any_message' }] } } } }
  const flow = (await server.call<{ id: string }>(token, 'POST', '/aiflow/flow', { projectId: project, name: 'Talk', draft })).id
  const open = `${server.url}/panel/flows/flow/${flow}?view=text`
  await page.goto(open)
  await page.getByLabel('Document of the flow').fill('{ half a document')
  const other = await plain()
  await other.goto(open)
  await other.getByLabel('Document of the flow').waitFor()
  await expect.poll(() => other.getByLabel('Document of the flow').inputValue()).toContain('any_message')
  await page.waitForFunction(async () => (await indexedDB.databases()).length > 0)
  await page.reload()
  await page.getByLabel('Document of the flow').waitFor()
  await expect.poll(() => page.getByLabel('Document of the flow').inputValue()).toBe('{ half a document')
  await page.close()
  await other.close()
})

test('a stream that something before the server refused is opened again', async () => {
  const { page } = visitor
  visitor.expected.push(/502 \(Bad Gateway\)/, /EventSource/)
  let asked = 0
  await page.route('**/chats/stream', (route) => (asked++ === 0 ? route.fulfill({ status: 502 }) : route.continue()))
  await page.goto(inbox())
  await messages().getByText('price', { exact: true }).waitFor()
  await expect.poll(() => asked).toBeGreaterThan(1)
  await write('after the proxy')
  await messages().getByText('after the proxy').waitFor()
  await page.unroute('**/chats/stream')
})

test('a page that cannot be read while the server is away is read when it is back', async () => {
  const { page } = visitor
  visitor.expected.push(/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/)
  await page.goto(inbox())
  await message().fill('half a thought')
  await server.stop()
  await page.getByRole('navigation').getByRole('link', { name: 'Usage' }).click()
  await page.getByText('The server cannot be reached').first().waitFor()
  await page.getByRole('button', { name: 'Log out' }).click()
  await expect.poll(() => page.getByRole('navigation').isVisible()).toBe(true)
  await server.start()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'AI usage', exact: true }).waitFor()
  await page.goto(inbox())
  await expect.poll(() => message().inputValue()).toBe('half a thought')
})

test('what is written while a message is on its way stays, and is not sent with it', async () => {
  const { page } = visitor
  await page.goto(inbox())
  let sends = 0
  await page.route('**/chats/send', async (route) => {
    sends++
    await new Promise((done) => setTimeout(done, 600))
    await route.continue()
  })
  await message().fill('first')
  await message().press('Control+Enter')
  await message().press('Control+Enter')
  await message().fill('second')
  await messages().getByText('first', { exact: true }).waitFor()
  await expect.poll(() => message().inputValue()).toBe('second')
  expect(sends).toBe(1)
  await page.unrouteAll({ behavior: 'wait' })
})

test('an address of a reference that is not there shows no other reference', async () => {
  const { page } = visitor
  visitor.expected.push(/404 \(Not Found\)/)
  for (const place of ['inbox/4711/ana%40sandbox', 'webhooks/4711']) {
    await page.goto(`${server.url}/panel/${place}`)
    await page.getByText('there is no such reference').waitFor()
    await expect.poll(() => page.getByText('price', { exact: true }).count()).toBe(0)
  }
})

test('closing what asks for the password, and choosing no file, lose nothing', async () => {
  const { page } = visitor
  await page.goto(`${server.url}/panel/flows`)
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('File').dispatchEvent('cancel', { bubbles: true })
  await dialog.getByRole('button', { name: 'Import', exact: true }).waitFor()
  await page.goto(inbox())
  await messages().getByText('first', { exact: true }).waitFor()
  await write('the stream is open') // and what is read when it opens has been asked for
  await messages().getByText('the stream is open').waitFor()
  await message().fill('kept')
  await visitor.quiet() // what is asked for later finds that the session has ended
  await visitor.context.clearCookies()
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await dialog.getByText('Your session has ended').first().waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => message().inputValue()).toBe('kept')
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('heading', { name: 'Trunkline' }).waitFor()
})

test('who may only read chats is told so, and shown no ways that end nowhere', async () => {
  const { page } = visitor
  visitor.expected.push(/403 \(Forbidden\)/)
  await server.call(token, 'POST', '/user', { name: 'Rita', email: 'rita@example.com', password: 'correct horse battery', permissions: ['chats.read'] })
  await page.getByLabel('E-mail').fill('rita@example.com')
  await page.getByLabel('Password').fill('correct horse battery')
  await page.locator('form').getByRole('button', { name: 'Log in' }).click()
  const places = page.getByRole('navigation')
  await places.getByRole('link', { name: 'Flows' }).click()
  await page.getByText('You do not have permission to see flows').waitFor()
  await expect.poll(() => places.getByRole('link', { name: 'Inbox' }).count()).toBe(0)
  await places.getByRole('link', { name: 'Home' }).click()
  await page.getByRole('heading', { name: 'Welcome to Trunkline' }).waitFor()
  await expect.poll(() => page.getByText('There are no references yet').count()).toBe(0)
})
