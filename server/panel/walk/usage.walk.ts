import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

// A provider whose model nobody has a price for.
const provider = createServer((request, response) => {
  response.setHeader('Content-Type', 'application/json')
  if (request.url?.endsWith('/models')) {
    response.end(JSON.stringify({ object: 'list', data: [{ id: 'house-model', object: 'model', created: 1, owned_by: 'house' }] }))
    return
  }
  request.resume().on('end', () =>
    response.end(
      JSON.stringify({
        id: '1',
        object: 'chat.completion',
        created: 1,
        model: 'house-model',
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: '{"values":{},"evidence":{}}' } }],
        usage: { prompt_tokens: 1200, completion_tokens: 300, total_tokens: 1500 },
      }),
    ),
  )
})

let server: Server
let visitor: Visitor
let token: string

beforeAll(async () => {
  await new Promise<void>((ready) => provider.listen(0, '127.0.0.1', ready))
  server = new Server(['--openai-url', `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`])
  await server.start()
  visitor = await Visitor.open(server)
  token = await visitor.signUp(server)
})

afterAll(async () => {
  await visitor.end(server)
  provider.close()
})

/** extract has an extractor of a reference ask a model about each message. */
async function extract(reference: number, model: string) {
  const config = { model, instructions: 'Find the name.', schema: { type: 'object', properties: { name: { type: 'string' } } } }
  await server.call(token, 'POST', '/extractor', { name: `name_${model.replace(/\W/g, '_')}`, kind: 'ai', scope: { reference }, config })
}

const open = (name: string) => visitor.page.getByRole('main').getByRole('button', { name, exact: true }).click()

test('before anything is called, the page says what it is for', async () => {
  const { page } = visitor
  await page.getByRole('navigation').getByRole('link', { name: 'Usage' }).click()
  await page.getByRole('heading', { name: 'No calls of models' }).waitFor()
  await visitor.look('usage-empty')
})

test('calls are counted by model, and one by one', async () => {
  const { page } = visitor
  const { id } = await server.call<{ id: number }>(token, 'POST', '/reference', { name: 'Shop', type: 'provider-sandbox' })
  await extract(id, 'mock/assistant')
  await extract(id, 'openai/house-model')
  await server.call(token, 'POST', `/sandbox/${id}/messages`, { from: 'ana', name: 'Ana', type: 'text', text: 'I am Ana.' })
  await expect.poll(async () => (await server.call<{ total: { calls: number } }>(token, 'GET', '/aiusage/rollup?groupBy=day')).total.calls).toBe(2)
  await page.reload()
  await page.getByRole('rowheader', { name: 'house-model' }).waitFor()
  await page.getByLabel('Show', { exact: true }).selectOption('tokens')
  await page.getByRole('img', { name: /Bars: Tokens/ }).waitFor()
  expect(page.url()).toContain('show=tokens')
  await visitor.look('usage')
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save as CSV' }).click()
  expect((await saved).suggestedFilename()).toBe('usage-day-model.csv')
  await page.getByLabel('Grouped by').selectOption('reference')
  await page.getByRole('link', { name: 'Shop' }).waitFor()
  expect(page.url()).toContain('by=reference')
  await open('Calls')
  await page.getByRole('cell', { name: 'openai/house-model' }).first().waitFor()
  await visitor.look('usage-calls')
})

test('a missing price is set, and earlier calls are priced again', async () => {
  const { page } = visitor
  await open('Prices')
  await page.getByRole('button', { name: 'Set a price' }).click()
  await page.getByLabel('Input, USD', { exact: true }).fill('2')
  await page.getByLabel('Output, USD').fill('10')
  await visitor.look('usage-price')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('rowheader', { name: 'openai/house-model' }).waitFor()
  await page.getByRole('button', { name: 'Recalculate' }).click()
  await page.getByText('Every used model has a price.').waitFor()
  await visitor.look('usage-prices')
  visitor.expected.push(/422 \(Unprocessable/)
  await page.getByRole('button', { name: 'Add a price' }).click()
  await page.getByLabel('Provider').fill('openai')
  await page.getByRole('textbox', { name: 'Model', exact: true }).fill('other')
  await page.getByLabel('Or the prices of another model').fill('nobody')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('dialog').getByRole('alert').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Discard' }).click()
})

test('a budget shows how much of it is used', async () => {
  const { page } = visitor
  await open('Budgets')
  await page.getByRole('button', { name: 'Add a budget' }).click()
  await page.getByLabel('Maximum cost, USD').fill('0.006')
  await visitor.look('usage-budget')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('nearly used up').waitFor()
  await visitor.look('usage-budgets')
  await open('Models')
  await page.getByText('openai/house-model').waitFor()
  await visitor.look('usage-models')
})

test('usage fits a phone', async () => {
  const { page } = visitor
  await page.setViewportSize({ width: 360, height: 740 })
  for (const part of ['', 'calls', 'prices', 'budgets', 'models']) {
    await page.goto(`${server.url}/panel/usage${part ? `?part=${part}` : ''}`)
    await page.getByRole('button', { name: 'Show as curl' }).or(page.getByText('Show as curl')).first().waitFor()
    await visitor.fits()
    await visitor.look(`usage-phone-${part || 'overview'}`)
  }
})

test('a budget that is spent is on Home', async () => {
  const { page } = visitor
  await server.call(token, 'PUT', '/aiusage/budget', { items: [{ scope: 'account', period: 'month', tokens: 100 }] })
  await page.goto(`${server.url}/panel/`)
  const alarms = page.getByRole('region', { name: 'Budget alarms' })
  await alarms.getByText('%').waitFor()
  await visitor.look('home-budget')
  await alarms.getByRole('link', { name: 'Budget of the account' }).click()
  await page.getByRole('heading', { name: 'Usage' }).waitFor()
})
