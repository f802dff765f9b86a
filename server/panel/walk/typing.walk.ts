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
})

afterAll(async () => {
  await visitor.end(server)
})

/** enter types a text, and presses Enter together with its last letter. */
async function enter(text: string) {
  const { keyboard } = visitor.page
  await keyboard.type(text.slice(0, -1))
  await Promise.all([keyboard.type(text.slice(-1)), keyboard.press('Enter')])
}

const times = Array.from({ length: 20 }, (_, at) => at + 1)

test('a log-in posts the last letter of the password', async () => {
  const { page } = visitor
  for (const _ of times) {
    await visitor.context.clearCookies()
    await page.goto(`${server.url}/panel/`)
    await page.getByRole('main').getByLabel('E-mail').fill('ana@example.com')
    await page.getByLabel('Password').focus()
    const posted = page.waitForRequest('**/user/login')
    await enter('correct horse battery')
    expect((await posted).postDataJSON()).toMatchObject({ password: 'correct horse battery' })
    await page.getByRole('heading', { name: 'Welcome to Trunkline' }).waitFor()
  }
})

test('the webhook box posts the last letter of the address', async () => {
  const { page } = visitor
  await page.goto(`${server.url}/panel/references/${reference}`)
  const box = page.getByRole('region', { name: 'New webhook' })
  for (const at of times) {
    await box.getByLabel('URL').focus()
    const url = `https://example.com/${at}/hook`
    await enter(url)
    await box.getByText(url, { exact: true }).waitFor()
    await expect.poll(() => box.getByLabel('URL').inputValue()).toBe('')
    await box.getByRole('button', { name: `Remove ${url}` }).click()
    await box.getByText(url, { exact: true }).waitFor({ state: 'detached' })
  }
})

test('messages have their last letter, and what is written while one is sent stays', async () => {
  const { page } = visitor
  await server.call(token, 'POST', `/sandbox/${reference}/messages`, { from: 'ana', name: 'Ana', type: 'text', text: 'hello' })
  await page.goto(`${server.url}/panel/inbox/${reference}/${encodeURIComponent('ana@sandbox')}`)
  const thread = page.getByRole('region', { name: 'Messages' })
  await thread.getByText('hello', { exact: true }).waitFor()
  for (const at of times.slice(0, 5)) {
    await page.getByLabel('Write as the contact').focus()
    await enter(`question ${at}?`)
    await page.keyboard.type('and')
    await thread.getByText(`question ${at}?`, { exact: true }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Send from the phone' }).isEnabled()).toBe(true)
    await expect.poll(() => page.getByLabel('Write as the contact').inputValue()).toBe('and')
    await page.getByLabel('Write as the contact').fill('')
    await page.getByLabel('Message', { exact: true }).focus()
    await page.keyboard.type(`answer ${at}.`)
    await page.keyboard.press('Control+Enter')
    await page.keyboard.type('so')
    await thread.getByText(`answer ${at}.`, { exact: true }).waitFor()
    await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe('so')
    await page.getByLabel('Message', { exact: true }).fill('')
  }
})
