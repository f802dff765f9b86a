import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

/** dot is a small green image. */
const dot = 'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR4nGPgzounKWIYtWDUglELRi0YtWDUglELRi0YtWDUglELhooFAO77YC7SW7Z3AAAAAElFTkSuQmCC'
const picture = (name: string) => ({ name, mimeType: 'image/png', buffer: Buffer.from(dot, 'base64') })
const words = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('20 €') })

const server = new Server()
let visitor: Visitor
let reference: number

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server)
  const token = await visitor.signUp(server)
  reference = (await server.call<{ id: number }>(token, 'POST', '/reference', { name: 'Shop', type: 'provider-sandbox' })).id
  await server.call(token, 'POST', `/sandbox/${reference}/messages`, { from: 'ana', name: 'Ana', type: 'text', text: 'hello' })
  await visitor.page.goto(`${server.url}/panel/inbox/${reference}/${encodeURIComponent('ana@sandbox')}`)
  await messages().getByText('hello').waitFor()
})

afterAll(async () => {
  await visitor.end(server)
})

const messages = () => visitor.page.getByRole('region', { name: 'Messages', exact: true })
const screen = () => visitor.page.getByRole('region', { name: /screen/ })
const composer = () => visitor.page.getByLabel('Message', { exact: true })
const staged = () => visitor.page.getByRole('list', { name: 'Files to send' }).getByRole('listitem')
const send = () => visitor.page.getByRole('button', { name: 'Send', exact: true }).click()

/** give pastes or drops a picture, as the browser does it. */
const give = (target: string, kind: 'paste' | 'drop', name: string) =>
  visitor.page.locator(target).first().evaluate(
    (element, { kind, name, dot }) => {
      const data = new DataTransfer()
      data.items.add(new File([Uint8Array.from(atob(dot), (letter) => letter.charCodeAt(0))], name, { type: 'image/png' }))
      const options = { bubbles: true, cancelable: true }
      element.dispatchEvent(kind === 'paste' ? new ClipboardEvent('paste', { ...options, clipboardData: data }) : new DragEvent('drop', { ...options, dataTransfer: data }))
    },
    { kind, name, dot },
  )

test('files are chosen, pasted and dropped, and sent together with a caption', async () => {
  const { page } = visitor
  await page.locator('.composer input[type=file]').setInputFiles([picture('one.png'), words('prices.txt')])
  await expect.poll(() => staged().count()).toBe(2)
  await give('.composer textarea', 'paste', 'pasted.png')
  await give('.thread-list', 'drop', 'dropped.png')
  await expect.poll(() => staged().count()).toBe(4)
  await page.getByRole('button', { name: 'Remove pasted.png' }).click()
  await expect.poll(() => staged().count()).toBe(3)
  await composer().fill('these are they')
  await visitor.look('inbox-staged')
  await send()
  await expect.poll(() => staged().count()).toBe(0)
  await expect.poll(() => composer().inputValue()).toBe('')
  await expect.poll(() => screen().getByRole('img', { name: 'Picture' }).count()).toBe(2)
  await screen().getByRole('link', { name: 'prices.txt' }).waitFor()
  await expect.poll(() => screen().getByText('these are they').count()).toBe(1)
  await expect.poll(() => messages().getByText('delivered').count()).toBe(3)
})

test('a file whose upload fails is tried again', async () => {
  const { page } = visitor
  visitor.expected.push(/ERR_FAILED/)
  await page.route('**/media', (route) => route.abort())
  await page.locator('.composer input[type=file]').setInputFiles(words('later.txt'))
  await send()
  const bubble = messages().locator('.bubble', { hasText: 'later.txt' })
  await bubble.getByText('failed').waitFor()
  await page.unroute('**/media')
  await bubble.getByRole('button', { name: 'Try again' }).click()
  await bubble.getByText('delivered').waitFor()
  await screen().getByRole('link', { name: 'later.txt' }).waitFor()
  await expect.poll(() => bubble.count()).toBe(1)
})

test('a picture opens large, with the keyboard', async () => {
  const { page } = visitor
  await messages().getByRole('button', { name: 'Picture' }).first().focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Picture' })
  await dialog.getByRole('img', { name: 'Picture' }).waitFor()
  await dialog.getByRole('link', { name: 'Download' }).waitFor()
  await visitor.look('inbox-picture')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

test('staged files fit a phone', async () => {
  const { page } = visitor
  await page.setViewportSize({ width: 360, height: 740 })
  await page.locator('.composer input[type=file]').setInputFiles([picture('a picture with a rather long name.png'), words('b.txt')])
  await expect.poll(() => staged().count()).toBe(2)
  await visitor.fits()
  await visitor.look('inbox-staged-phone')
})
