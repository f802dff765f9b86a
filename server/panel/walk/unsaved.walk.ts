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

const write = (text: string) => server.call(token, 'POST', `/sandbox/${reference}/messages`, { from: 'ana', name: 'Ana', type: 'text', text })
const chat = () => `${server.url}/panel/inbox/${reference}/${encodeURIComponent('ana@sandbox')}`
const question = () => visitor.page.getByRole('dialog', { name: 'Discard what you typed?' })
const tags = () => visitor.page.getByLabel('Tags')

test('what is typed about a contact survives news, and leaving is asked about', async () => {
  const { page } = visitor
  await page.goto(`${server.url}/panel/`)
  await page.getByRole('navigation').getByRole('link', { name: 'Inbox' }).click()
  await page.getByRole('region', { name: 'Inbox' }).getByRole('link').first().click()
  await tags().fill('vip, half a t')
  await write('news')
  await page.getByRole('region', { name: 'Messages' }).getByText('news', { exact: true }).waitFor()
  await server.call(token, 'PATCH', '/chats', { reference, chatId: 'ana@sandbox', name: 'Ana Silva' })
  await page.getByRole('heading', { name: 'Ana Silva' }).waitFor()
  await expect.poll(() => page.getByRole('region', { name: 'Contact' }).getByLabel('Name', { exact: true }).first().inputValue()).toBe('Ana Silva')
  await expect.poll(() => tags().inputValue()).toBe('vip, half a t')

  const home = page.getByRole('navigation').getByRole('link', { name: 'Home' })
  await home.click()
  await question().waitFor()
  await visitor.look('unsaved')
  await question().getByRole('button', { name: 'Cancel' }).click()
  await page.goBack()
  await question().waitFor()
  await page.keyboard.press('Escape')
  await question().waitFor({ state: 'detached' })
  expect(decodeURIComponent(page.url())).toContain('ana@sandbox')
  await expect.poll(() => tags().inputValue()).toBe('vip, half a t')

  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(async () => (await server.call<{ items: { tags: string[] }[] }>(token, 'GET', `/chats/list?reference=${reference}`)).items[0]?.tags).toEqual(['vip', 'half a t'])
  await expect.poll(() => tags().inputValue()).toBe('vip, half a t')
  await home.click()
  await page.getByRole('heading', { name: 'Welcome to Trunkline' }).waitFor()
})

test('Escape on half a poll asks first', async () => {
  const { page } = visitor
  await page.goto(chat())
  await page.getByRole('button', { name: 'More kinds of messages' }).click()
  const form = page.getByRole('dialog', { name: 'More kinds of messages' })
  await form.getByRole('button', { name: 'Poll', exact: true }).click()
  await form.getByLabel('Question', { exact: true }).fill('Which d')
  await form.getByLabel('Answer 1', { exact: true }).fill('Mon')
  for (const _ of [1, 2, 3]) {
    await page.keyboard.press('Escape')
    await question().waitFor()
    await page.keyboard.press('Escape')
    await question().waitFor({ state: 'detached' })
  }
  await form.getByRole('button', { name: 'Place', exact: true }).click()
  await question().getByRole('button', { name: 'Cancel' }).click()
  await expect.poll(() => form.getByLabel('Question', { exact: true }).inputValue()).toBe('Which d')
  await expect.poll(() => form.getByLabel('Answer 1', { exact: true }).inputValue()).toBe('Mon')
  await form.getByRole('button', { name: 'Close' }).click()
  await question().getByRole('button', { name: 'Discard' }).click()
  await form.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'More kinds of messages' }).click()
  await form.waitFor()
  await page.keyboard.press('Escape') // nothing was typed
  await form.waitFor({ state: 'detached' })
})

test('what is typed survives that the page cannot be read again', async () => {
  const { page } = visitor
  visitor.expected.push(/502 \(Bad Gateway\)/)
  await page.goto(`${server.url}/panel/references/${reference}`)
  const name = page.getByRole('region', { name: 'Settings' }).getByLabel('Name')
  await name.fill('Another n')
  let asked = 0
  await page.route(`**/reference/${reference}`, (route) => {
    asked++
    return route.fulfill({ status: 502 })
  })
  await server.call(token, 'POST', '/reference/session/logout', { reference }) // news, at which the page is read again
  await expect.poll(() => asked).toBeGreaterThanOrEqual(4)
  await expect.poll(() => name.inputValue()).toBe('Another n')
  await page.unroute(`**/reference/${reference}`)
})

test('what is typed is not kept for another user', async () => {
  const { page } = visitor
  visitor.expected.push(/404 \(Not Found\)/) // the chat is none of the other's
  const kept = () => page.evaluate(() => JSON.stringify(sessionStorage))
  const field = page.getByLabel('Message', { exact: true })
  await page.goto(chat())
  await field.fill('half a secret')
  await page.reload()
  await expect.poll(() => field.inputValue()).toBe('half a secret')
  await page.context().clearCookies() // the session has ended
  await page.reload()
  await page.getByRole('button', { name: 'Sign up' }).first().click()
  await page.getByLabel('Your name').fill('Ben')
  await page.getByLabel('E-mail').fill('ben@example.com')
  await page.getByLabel('Password').fill('correct horse battery')
  await page.locator('form').getByRole('button', { name: 'Sign up' }).click()
  await page.getByRole('navigation').waitFor()
  await expect.poll(kept).not.toContain('half a secret')
})
