import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

/** dot is a small green image. */
const dot = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR4nGPgzounKWIYtWDUglELRi0YtWDUglELRi0YtWDUglELhooFAO77YC7SW7Z3AAAAAElFTkSuQmCC', 'base64')

const server = new Server()
let visitor: Visitor
let token: string
let reference: number

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server)
  token = await visitor.signUp(server)
})

afterAll(async () => {
  await visitor.end(server)
})

test('a sandbox is created, and its phone is written on', async () => {
  const { page } = visitor
  await page.getByRole('button', { name: 'Create sandbox' }).click()
  await page.getByRole('heading', { name: 'Simulated phone' }).waitFor()
  await visitor.look('inbox-empty')
  await page.getByLabel('Write as the contact').fill('price')
  await page.getByRole('button', { name: 'Send from the phone' }).click()
  const thread = page.getByRole('region', { name: 'Messages' })
  await thread.getByText('price').waitFor()
  reference = Number(/inbox\/(\d+)/.exec(page.url())?.[1])
})

test('an answer reaches the phone, and its state is shown', async () => {
  const { page } = visitor
  await page.getByLabel('Message', { exact: true }).fill('It costs 20 €, see https://example.com/price')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('region', { name: /screen/ }).getByText('It costs 20 €').waitFor()
  const thread = page.getByRole('region', { name: 'Messages' })
  await thread.getByText('delivered').waitFor()
  await expect.poll(() => thread.getByRole('link').getAttribute('rel')).toContain('noopener')
  await visitor.look('inbox')
  await thread.getByRole('button', { name: 'What happened?' }).last().click()
  await page.getByRole('dialog', { name: /What happened/ }).getByText('stored').first().waitFor()
  await visitor.look('inbox-explain')
  await page.keyboard.press('Escape')
})

test('messages that are more than words are written with a form', async () => {
  const { page } = visitor
  const screen = page.getByRole('region', { name: /screen/ })
  const thread = page.getByRole('region', { name: 'Messages' })
  const write = async (kind: string) => {
    await page.getByRole('button', { name: 'More kinds of messages' }).click()
    await page.getByRole('dialog').getByRole('button', { name: kind, exact: true }).click()
    return page.getByRole('dialog')
  }
  const send = async () => {
    await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  let form = await write('Buttons')
  await form.getByLabel('Question', { exact: true }).fill('Shall we?')
  await form.getByLabel('Button 1', { exact: true }).fill('Yes, please')
  await form.getByRole('button', { name: 'Add another' }).click()
  await form.getByLabel('Button 2', { exact: true }).fill('No')
  await visitor.look('inbox-buttons')
  await send()
  await screen.getByRole('button', { name: 'Yes, please' }).click()
  await thread.getByText('Yes, please', { exact: true }).waitFor()
  form = await write('Menu')
  await form.getByLabel('Question', { exact: true }).fill('Which size?')
  await form.getByLabel('Button that opens the menu', { exact: true }).fill('Sizes')
  await form.getByLabel('Row 1', { exact: true }).fill('large')
  await form.getByLabel('Row 2', { exact: true }).fill('small')
  await send()
  await screen.getByRole('button', { name: 'small' }).waitFor()
  form = await write('Poll')
  await form.getByLabel('Question', { exact: true }).fill('Which day?')
  await form.getByLabel('Answer 1', { exact: true }).fill('Monday')
  visitor.expected.push(/422 \(Unprocessable/)
  await form.getByRole('button', { name: 'Send', exact: true }).click()
  await form.getByRole('alert').waitFor()
  await visitor.look('inbox-poll-wrong')
  await form.getByLabel('Answer 2', { exact: true }).fill('Tuesday')
  await send()
  await screen.getByText('○ Tuesday').waitFor()
  form = await write('Place')
  await form.getByLabel('Latitude', { exact: true }).fill('38.7223')
  await form.getByLabel('Longitude', { exact: true }).fill('-9.1393')
  await form.getByLabel('Name of the place', { exact: true }).fill('Lisbon')
  await send()
  await screen.getByText('Lisbon').waitFor()
  form = await write('Contact card')
  await form.getByLabel('Name', { exact: true }).fill('Ben Silva')
  await form.getByLabel('Phone number', { exact: true }).fill('+351210000000')
  await send()
  await screen.getByText('Ben Silva').waitFor()
})

test('files go from the phone to the thread, and back', async () => {
  const { page } = visitor
  const screen = page.getByRole('region', { name: /screen/ })
  const thread = page.getByRole('region', { name: 'Messages' })
  await page.getByLabel('Write as the contact').fill('look at this')
  await page.locator('input[type=file]').last().setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: dot })
  await thread.getByRole('img', { name: 'Picture' }).waitFor()
  await screen.getByRole('img', { name: 'Picture' }).waitFor()
  await expect.poll(() => page.getByLabel('Write as the contact').inputValue()).toBe('')
  await page.locator('input[type=file]').first().setInputFiles({ name: 'prices.txt', mimeType: 'text/plain', buffer: Buffer.from('20 €') })
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await screen.getByRole('link', { name: 'prices.txt' }).waitFor()
  await thread.getByRole('link', { name: 'prices.txt' }).waitFor()
  await visitor.look('inbox-files')
})

test('a draft survives a reload and the loss of the server', async () => {
  const { page } = visitor
  visitor.expected.push(/Failed to load resource|ERR_/)
  await page.getByLabel('Message', { exact: true }).fill('half a tho')
  await page.reload()
  await page.getByRole('region', { name: 'Messages' }).getByText('price', { exact: true }).waitFor()
  await server.stop()
  await page.getByText('Reconnecting…').waitFor()
  await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe('half a tho')
  await page.getByLabel('Message', { exact: true }).fill('half a thought')
  await server.start()
  await page.getByText('Reconnecting…').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('region', { name: /screen/ }).getByText('half a thought').waitFor()
})

test('what is searched for stays in the address', async () => {
  const { page } = visitor
  const search = page.getByLabel('Search names and numbers')
  await search.fill('ana')
  await page.getByRole('region', { name: 'Inbox' }).getByRole('link').first().click()
  await expect.poll(() => new URL(page.url()).searchParams.get('search')).toBe('ana')
  await page.reload()
  await page.getByRole('region', { name: 'Messages' }).getByText('price', { exact: true }).waitFor()
  await expect.poll(() => search.inputValue()).toBe('ana')
  await search.fill('nobody')
  await page.getByText('No chat matches.').waitFor()
  await search.fill('')
  await expect.poll(() => new URL(page.url()).search).toBe('')
})

test('a text that is too long for a message goes as a file', async () => {
  const { page } = visitor
  const field = page.getByLabel('Message', { exact: true })
  await field.fill('before')
  await field.evaluate((box) => {
    const data = new DataTransfer()
    data.setData('text', 'w'.repeat(1_000_000))
    box.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
  })
  await page.getByText('The pasted text has 1,000,000 characters. A message has at most 65,536.').waitFor()
  await expect.poll(() => field.inputValue()).toBe('before')
  await visitor.look('inbox-too-long')
  await page.getByRole('button', { name: 'Send it as a file' }).click()
  await page.getByRole('region', { name: /screen/ }).getByRole('link', { name: 'text.txt' }).waitFor()
  await page.getByText('1,000,000 characters').waitFor({ state: 'detached' })
})

test('what strangers write is text', async () => {
  const { page } = visitor
  const hostile = ['<img src=x onerror="document.title=1">', '<script>document.title=2</script>', 'javascript:alert(1) [x](javascript:alert(2))', '\u202Etxt.exe\u202C', 'w'.repeat(64 * 1024 - 1)]
  for (const text of hostile) await server.call(token, 'POST', `/sandbox/${reference}/messages`, { from: 'eve', name: '<b onmouseover=alert(3)>Eve</b>', type: 'text', text })
  await page.goto(`${server.url}/panel/inbox/${reference}/${encodeURIComponent('eve@sandbox')}`)
  const thread = page.getByRole('region', { name: 'Messages' })
  await thread.getByText('wwww').first().waitFor()
  await expect.poll(() => thread.locator('script, img, b, a').count()).toBe(0)
  await expect.poll(() => page.title()).toBe('Trunkline')
  await visitor.fits()
  await visitor.look('inbox-hostile')
})

test('the inbox fits a phone', async () => {
  const { page } = visitor
  await page.setViewportSize({ width: 360, height: 740 })
  await page.goto(`${server.url}/panel/inbox/${reference}/${encodeURIComponent('ana@sandbox')}`)
  await page.getByRole('region', { name: 'Messages' }).getByText('price', { exact: true }).waitFor()
  await visitor.fits()
  await visitor.look('inbox-phone')
})
