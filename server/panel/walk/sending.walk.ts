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
  reference = (await server.call<{ id: number }>(token, 'POST', '/reference', { name: 'Shop', type: 'provider-sandbox' })).id
  for (let at = 0; at < 40; at++) await write(`question ${at}`)
})

afterAll(async () => {
  await visitor.end(server)
})

const write = (text: string) => server.call(token, 'POST', `/sandbox/${reference}/messages`, { from: 'ana', name: 'Ana', type: 'text', text })
const open = (chat = 'ana@sandbox') => visitor.page.goto(`${server.url}/panel/inbox/${reference}/${encodeURIComponent(chat)}`)
const messages = () => visitor.page.getByRole('region', { name: 'Messages', exact: true })
const composer = () => visitor.page.getByLabel('Message', { exact: true })
const bubble = (text: string) => messages().locator('.bubble', { hasText: text })

/** said is how often the contact got a text. */
async function said(text: string): Promise<number> {
  const page = await server.call<{ items: { text?: string }[] }>(token, 'GET', `/sandbox/${reference}/messages?from=ana&limit=200`)
  return page.items.filter((one) => one.text === text).length
}

async function send(text: string) {
  await composer().fill(text)
  await composer().press('Control+Enter')
}

/** held keeps the requests of a path until what it returns is called. */
async function held(path: string) {
  let letGo = () => {}
  const gate = new Promise<void>((done) => (letGo = done))
  await visitor.page.route(path, async (route) => {
    await gate
    await route.fallback()
  })
  return letGo
}

test('a message is shown at once, then sent, delivered and read', async () => {
  const { page } = visitor
  await open()
  await messages().getByText('question 39').waitFor()
  const letGo = await held('**/chats/send')
  await send('one')
  await bubble('one').getByText('waiting').waitFor()
  await expect.poll(() => composer().inputValue()).toBe('')
  await send('two')
  await bubble('two').getByText('waiting').waitFor()
  await visitor.look('inbox-sending')
  letGo()
  await bubble('one').getByText('delivered').waitFor()
  await bubble('two').getByText('delivered').waitFor()
  await expect.poll(() => messages().locator('.mine .words').allInnerTexts()).toEqual(['one', 'two'])
  await write('thanks')
  await bubble('two').getByText(/ read$/).waitFor()
  expect(await said('one')).toBe(1)
  await page.getByRole('region', { name: /screen/ }).getByText('two', { exact: true }).waitFor()
})

test('a message whose answer is lost is sent again, and arrives once', async () => {
  const { page } = visitor
  visitor.expected.push(/ERR_FAILED|ERR_ABORTED|Failed to load resource/)
  await open()
  await messages().getByText('thanks').waitFor()
  await page.route('**/chats/messages?**', (route) => route.abort())
  await page.route('**/chats/send', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await send('only once')
  await bubble('only once').getByText('failed').waitFor()
  await bubble('only once').getByText('The server cannot be reached').waitFor()
  await visitor.look('inbox-send-failed')
  await page.unroute('**/chats/send')
  await bubble('only once').getByRole('button', { name: 'Try again' }).click()
  await bubble('only once').getByText('sent').waitFor()
  await page.unroute('**/chats/messages?**')
  await write('and?')
  await bubble('only once').getByText(/ read$/).waitFor()
  await expect.poll(() => bubble('only once').count()).toBe(1)
  expect(await said('only once')).toBe(1)
})

test('a message on its way survives a reload, and is sent once', async () => {
  const { page } = visitor
  await open()
  await messages().getByText('and?', { exact: true }).waitFor()
  await page.route('**/chats/send', () => undefined) // no answer ever comes
  await send('kept')
  await bubble('kept').getByText('waiting').waitFor()
  await page.reload()
  await bubble('kept').getByText('It is not known whether this was sent').waitFor()
  await page.unroute('**/chats/send')
  await bubble('kept').getByRole('button', { name: 'Try again' }).click()
  await bubble('kept').getByText('delivered').waitFor()
  await page.reload()
  await bubble('kept').getByText('delivered').waitFor()
  await expect.poll(() => bubble('kept').count()).toBe(1)
  expect(await said('kept')).toBe(1)
})

test('what was never sent is discarded, and what the network refused is sent as another message', async () => {
  const { page } = visitor
  visitor.expected.push(/409|422|502/)
  await open()
  await page.route('**/chats/send', (route) => route.abort())
  await send('never mind')
  await bubble('never mind').getByRole('button', { name: 'Discard' }).click()
  await expect.poll(() => bubble('never mind').count()).toBe(0)
  await page.unroute('**/chats/send')
  const group = await server.call<{ chatId: string }>(token, 'POST', '/chats/group', { reference, subject: 'Friends', participants: ['ana@sandbox'] })
  await server.call(token, 'PATCH', '/chats/group', { reference, chatId: group.chatId, leave: true })
  await open(group.chatId)
  await send('to a group that was left')
  await bubble('to a group').getByText('failed').waitFor()
  await bubble('to a group').getByRole('button', { name: 'Try again' }).click()
  await expect.poll(() => bubble('to a group').count()).toBe(2)
  await expect.poll(() => messages().getByRole('button', { name: 'Try again' }).count()).toBe(1)

  // Another tab, or a person, that has not seen that it was tried again sends nothing more.
  await open(group.chatId)
  await expect.poll(() => messages().getByRole('button', { name: 'Try again' }).count()).toBe(2)
  await Promise.all([page.waitForResponse('**/chats/send'), bubble('to a group').first().getByRole('button', { name: 'Try again' }).click()])
  const all = await server.call<{ items: { text: string }[] }>(token, 'GET', `/chats/messages?reference=${reference}&chatId=${encodeURIComponent(group.chatId)}`)
  expect(all.items.filter((one) => one.text === 'to a group that was left').length).toBe(2)
})

test('a thread that is looked at above its end counts what is new, and goes there', async () => {
  const { page } = visitor
  await open()
  await messages().getByText('kept', { exact: true }).waitFor()
  await messages().focus()
  await expect
    .poll(async () => {
      await page.keyboard.press('Home')
      return messages().getByText('question 0', { exact: true }).count()
    })
    .toBe(1)
  await page.getByRole('button', { name: 'Newest message' }).waitFor()
  await write('new one')
  await write('new two')
  await page.getByRole('button', { name: 'New messages: 2' }).waitFor()
  await visitor.look('inbox-newest')
  await page.getByRole('button', { name: 'New messages: 2' }).click()
  await messages().getByText('new two').waitFor()
  await page.getByRole('button', { name: /New/ }).waitFor({ state: 'detached' })
  await page.keyboard.press('Home')
  await messages().focus()
  await page.keyboard.press('Home')
  await page.getByRole('button', { name: 'Newest message' }).waitFor()
  await expect.poll(() => messages().evaluate((list) => list.scrollTop)).toBe(0) // the browser scrolls in steps, which would go on
  await send('from above')
  await bubble('from above').waitFor()
  await page.getByRole('button', { name: 'Newest message' }).waitFor({ state: 'detached' })
})
