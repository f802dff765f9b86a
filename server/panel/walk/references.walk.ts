import { afterAll, beforeAll, test } from 'vitest'
import { Server, Visitor } from './world'

const server = new Server()
let visitor: Visitor
let token: string

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server)
  token = await visitor.signUp(server)
})

afterAll(async () => {
  await visitor.end(server)
})

const link = (name: string) => visitor.page.getByRole('navigation').getByRole('link', { name }).click()

test('references are created, with what each kind needs', async () => {
  const { page } = visitor
  await link('References')
  await page.getByRole('heading', { name: 'No references yet' }).waitFor()
  await visitor.look('references-empty')
  await page.getByRole('button', { name: 'Create a reference' }).first().click()
  await page.getByLabel('WhatsApp Cloud API').check()
  await visitor.look('references-create')
  await page.getByLabel('Name').fill('Shop')
  await page.getByLabel('Phone number id').fill('1')
  for (const name of ['Business account id', 'Access token', 'App secret', 'Verify token']) await page.getByLabel(name).fill('x')
  visitor.expected.push(/422 \(Unprocessable/)
  await page.getByRole('dialog').getByRole('button', { name: 'Create a reference' }).click()
  await page.getByText(/at least|characters|digits|must/i).first().waitFor()
  await page.keyboard.press('Escape')
})

test('a reference shows how it is, and takes webhooks', async () => {
  const { page } = visitor
  const { id } = await server.call<{ id: number }>(token, 'POST', '/reference', { name: 'Ana’s phone', type: 'provider-sandbox' })
  await page.reload()
  await page.getByRole('link', { name: /Ana’s phone/ }).click()
  await page.getByRole('heading', { name: 'Health' }).waitFor()
  await page.getByRole('textbox', { name: 'URL' }).fill('https://example.com/hook')
  await page.getByRole('button', { name: 'Add a header' }).click()
  await page.getByLabel('Header', { exact: true }).fill('X-Key')
  await page.getByLabel('Value').fill('secret')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('https://example.com/hook').waitFor()
  await visitor.look('reference')
  await page.getByRole('button', { name: 'Remove https://example.com/hook' }).click()
  await page.getByText('https://example.com/hook').waitFor({ state: 'detached' })
  await page.goto(`${server.url}/panel/webhooks/${id}`)
})

test('a webhook is added, tested, and its deliveries are replayed', async () => {
  const { page } = visitor
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
  await page.getByRole('button', { name: 'Add a webhook' }).first().click()
  await page.getByRole('button', { name: 'Use echo endpoint' }).click()
  await visitor.look('webhook-add')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('whsec_').waitFor()
  await page.getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('200').first().waitFor()
  const references = await server.call<{ items: { id: number }[] }>(token, 'GET', '/reference/list')
  await server.call(token, 'POST', `/sandbox/${references.items[0]?.id}/messages`, { from: 'ana', name: 'Ana', type: 'text', text: 'price' })
  const delivery = page.locator('.delivery', { hasText: 'ana@sandbox' }).filter({ hasText: 'delivered' }).first()
  await delivery.locator('summary').click()
  await delivery.getByRole('button', { name: 'Replay' }).click()
  await page.getByText('attempts: 2').waitFor()
  await visitor.look('webhooks')
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  await page.getByLabel('Format').selectOption('WAHA')
  await visitor.look('webhook-change')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('WAHA · message').waitFor()
})

test('pages fit a phone', async () => {
  const { page } = visitor
  await page.setViewportSize({ width: 360, height: 740 })
  for (const [name, path] of [['home', ''], ['references', 'references'], ['webhooks', 'webhooks']] as const) {
    await page.goto(`${server.url}/panel/${path}`)
    await page.getByRole('main').getByRole('heading').first().waitFor()
    await visitor.fits()
    await visitor.look(`${name}-phone`)
  }
})
