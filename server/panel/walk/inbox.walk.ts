import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

const server = new Server()
let visitor: Visitor
let token: string
let line: number

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
  line = Number(/inbox\/(\d+)/.exec(page.url())?.[1])
})

test('an answer reaches the phone, and its state is shown', async () => {
  const { page } = visitor
  await page.getByLabel('Message', { exact: true }).fill('It costs 20 €, see https://example.com/price')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('region', { name: /screen/ }).getByText('It costs 20 €').waitFor()
  const thread = page.getByRole('region', { name: 'Messages' })
  await thread.getByText('delivered').waitFor()
  expect(await thread.getByRole('link').getAttribute('rel')).toContain('noopener')
  await visitor.look('inbox')
  await thread.getByRole('button', { name: 'What happened?' }).last().click()
  await page.getByRole('dialog', { name: /What happened/ }).getByText('stored').first().waitFor()
  await visitor.look('inbox-explain')
  await page.keyboard.press('Escape')
})

test('a draft survives a reload and the loss of the server', async () => {
  const { page } = visitor
  visitor.expected.push(/Failed to load resource|ERR_/)
  await page.getByLabel('Message', { exact: true }).fill('half a tho')
  await page.reload()
  await page.getByRole('region', { name: 'Messages' }).getByText('price', { exact: true }).waitFor()
  await server.stop()
  await page.getByText('Reconnecting…').waitFor()
  expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('half a tho')
  await page.getByLabel('Message', { exact: true }).fill('half a thought')
  await server.start()
  await page.getByText('Reconnecting…').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('region', { name: /screen/ }).getByText('half a thought').waitFor()
})

test('what strangers write is text', async () => {
  const { page } = visitor
  const hostile = ['<img src=x onerror="document.title=1">', '<script>document.title=2</script>', 'javascript:alert(1) [x](javascript:alert(2))', '\u202Etxt.exe\u202C', 'w'.repeat(64 * 1024 - 1)]
  for (const text of hostile) await server.call(token, 'POST', `/sandbox/${line}/messages`, { from: 'eve', name: '<b onmouseover=alert(3)>Eve</b>', type: 'text', text })
  await page.goto(`${server.url}/panel/inbox/${line}/${encodeURIComponent('eve@sandbox')}`)
  const thread = page.getByRole('region', { name: 'Messages' })
  await thread.getByText('wwww').first().waitFor()
  expect(await thread.locator('script, img, b, a').count()).toBe(0)
  expect(await page.title()).toBe('Trunkline')
  await visitor.fits()
  await visitor.look('inbox-hostile')
})

test('the inbox fits a phone', async () => {
  const { page } = visitor
  await page.setViewportSize({ width: 360, height: 740 })
  await page.goto(`${server.url}/panel/inbox/${line}/${encodeURIComponent('ana@sandbox')}`)
  await page.getByRole('region', { name: 'Messages' }).getByText('price', { exact: true }).waitFor()
  await visitor.fits()
  await visitor.look('inbox-phone')
})
