import { afterAll, beforeAll, expect, test } from 'vitest'
import { Graph } from './graph'
import { Server, Visitor } from './world'

const graph = new Graph()
let server: Server
let visitor: Visitor
let token: string

beforeAll(async () => {
  await graph.start()
  server = new Server(['--graph-url', graph.url])
  await server.start()
  visitor = await Visitor.open(server)
  token = await visitor.signUp(server)
})

afterAll(async () => {
  await visitor.end(server)
  graph.end()
})

/** sent sends the template of a reference from the inbox, where nobody has written for long. */
async function sent(reference: number) {
  const { page } = visitor
  const template = { name: 'welcome', language: { code: 'pt_BR' }, components: [{ type: 'body', parameters: [{ type: 'text', text: 'Ana' }] }] }
  await server.call(token, 'POST', '/chats/send', { reference, chatId: '351210000000', message: { type: 'template', template } })
  await page.goto(`${server.url}/panel/inbox/${reference}/351210000000`)
  await page.getByRole('button', { name: 'Template', exact: true }).click()
  await page.getByRole('dialog').getByLabel('{{1}} in the text').fill('Zoë')
  await page.getByRole('dialog').getByText('Olá Zoë').waitFor()
  await visitor.look('inbox-template')
  await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click()
  await page.getByRole('region', { name: 'Messages' }).getByText('Olá Zoë, *bem-vinda*!').waitFor()
}

test('a reference without templates is told kindly', async () => {
  const { page } = visitor
  await server.call(token, 'POST', '/reference', { name: 'Phone', type: 'provider-web' })
  await page.getByRole('navigation').getByRole('link', { name: 'Templates' }).click()
  await page.getByRole('heading', { name: 'No reference has templates' }).waitFor()
  await visitor.look('templates-none')
})

test('a template is begun with a starter, and handed in', async () => {
  const { page } = visitor
  await server.call(token, 'POST', '/reference', { name: 'Shop', type: 'provider-cloud', settings: { phoneNumberId: '1', businessAccountId: '2', accessToken: 'token-of-1', appSecret: 'secret-of-1', verifyToken: 'verify-of-1' } })
  await page.reload()
  await page.getByRole('heading', { name: 'No templates yet' }).waitFor()
  await visitor.look('templates-empty')
  await page.getByRole('button', { name: 'An order is on its way' }).click()
  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.locator('strong', { hasText: 'Monday, 3 March' }).waitFor()
  await visitor.look('templates-editor')
  await page.getByLabel('Text', { exact: true }).fill('{{1}}, look: <b>*new*</b> _things_')
  await preview.locator('strong', { hasText: 'new' }).waitFor()
  await expect.poll(() => preview.locator('b').count()).toBe(0)
  visitor.expected.push(/422 \(Unprocessable|400 \(Bad Request|502 \(Bad Gateway/)
  await page.getByRole('button', { name: 'Submit for approval' }).click()
  await page.getByRole('alert').getByText('must not begin or end with a variable').waitFor()
  await visitor.look('templates-wrong')
  await page.reload()
  await expect.poll(() => page.getByLabel('Text', { exact: true }).inputValue()).toContain('look')
  await page.getByLabel('Text', { exact: true }).fill('Hello {{1}}, your order is *on its way*.')
  await page.getByRole('button', { name: 'Submit for approval' }).click()
  await page.getByRole('button', { name: /order_shipped/ }).getByText('in review').waitFor()
  expect(graph.templates[0]?.components).toContainEqual({ type: 'BODY', text: 'Hello {{1}}, your order is *on its way*.', example: { body_text: [['Ana']] } })
})

test('what the network refuses is shown in its words', async () => {
  const { page } = visitor
  await page.getByRole('button', { name: 'New template' }).click()
  await page.getByRole('button', { name: 'An order is on its way' }).click()
  await page.getByRole('button', { name: 'Submit for approval' }).click()
  await page.getByRole('alert').filter({ hasText: 'already' }).waitFor()
  await page.getByRole('button', { name: 'Back to the list' }).first().click()
})

test('an approved template is filled in, and one is deleted', async () => {
  const { page } = visitor
  graph.put({ name: 'welcome', language: 'pt_BR', category: 'MARKETING', status: 'APPROVED', quality_score: { score: 'GREEN' }, components: [{ type: 'BODY', text: 'Olá {{1}}, *bem-vinda*!', example: { body_text: [['Ana']] } }, { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Obrigada' }] }] })
  graph.put({ name: 'loud', language: 'en_US', category: 'MARKETING', status: 'REJECTED', rejected_reason: 'PROMOTIONAL', components: [{ type: 'BODY', text: 'BUY NOW' }] })
  const reference = await server.call<{ id: number }>(token, 'POST', '/reference', { name: 'Second shop', type: 'provider-cloud', settings: { phoneNumberId: '3', businessAccountId: '4', accessToken: 'token-of-3', appSecret: 'secret-of-3', verifyToken: 'verify-of-3' } })
  await page.goto(`${server.url}/panel/templates/${reference.id}`)
  await page.getByText('Reason of the network: PROMOTIONAL').waitFor()
  await visitor.look('templates')
  await page.getByRole('button', { name: /welcome/ }).click()
  await page.getByText('Olá Ana').waitFor()
  await page.getByLabel('{{1}} in the text').fill('<i>Zoë</i>')
  await page.getByText('Olá <i>Zoë</i>').waitFor()
  await visitor.look('templates-look')
  await page.keyboard.press('Escape')
  await sent(reference.id)
  await page.goto(`${server.url}/panel/templates/${reference.id}`)
  await page.getByRole('button', { name: /welcome/ }).click()
  await page.getByRole('button', { name: 'Delete in pt_BR' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('button', { name: /welcome/ }).waitFor({ state: 'detached' })
  expect(graph.templates.map((one) => one.name)).not.toContain('welcome')
  await page.getByLabel('Status').selectOption('rejected')
  await page.getByRole('button', { name: /loud/ }).click()
  await page.getByText('It cannot be sent now').waitFor()
  await page.keyboard.press('Escape')
})

test('templates fit a phone', async () => {
  const { page } = visitor
  await page.setViewportSize({ width: 360, height: 740 })
  await page.reload()
  await page.getByRole('button', { name: /loud/ }).waitFor()
  await visitor.fits()
  await visitor.look('templates-phone')
  await page.getByRole('button', { name: 'New template' }).click()
  await visitor.fits()
  await visitor.look('templates-editor-phone')
})
