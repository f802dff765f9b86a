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
  await visitor.page.reload()
})

afterAll(async () => {
  await visitor.end(server)
})

const list = async () => {
  const { page } = visitor
  await page.getByRole('navigation').getByRole('link', { name: 'Extractors' }).click()
  await page.getByRole('heading', { name: 'Extractors', exact: true }).waitFor()
}

/** create begins an extractor of a kind on the reference. */
const create = async (name: string, kind: string) => {
  const { page } = visitor
  await page.getByRole('button', { name: 'New extractor' }).first().click()
  await page.getByLabel('Name').fill(name)
  await page.getByRole('radio', { name: kind }).check()
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { name }).waitFor()
}

const tryIt = () => visitor.page.getByRole('region', { name: 'Try it' })
const tests = () => visitor.page.getByRole('region', { name: 'Tests', exact: true })
const form = () => visitor.page.getByRole('form', { name: 'Kind' })

/** save keeps the changes that were made, from the form or from the tests. */
const save = async (where = form()) => {
  await where.getByRole('button', { name: 'Save' }).click()
  await saved()
}

/** saved waits until nothing is left to be saved; what is switched off is saved while it is written. */
const saved = () => form().getByText('not saved', { exact: true }).waitFor({ state: 'detached' })

test('a pattern is tried where the text is no ASCII, and switched on', async () => {
  const { page } = visitor
  await list()
  await page.getByRole('heading', { name: 'No extractors yet' }).waitFor()
  await visitor.look('extractors-empty')
  await page.getByRole('button', { name: 'New extractor' }).click()
  await visitor.look('extractors-create')
  await page.keyboard.press('Escape')
  await create('Order number', 'Pattern')
  await tryIt().getByLabel('Text').fill('Olá 👩‍🚀 ção: where is #17, and #18?')
  await tryIt().locator('mark', { hasText: '18' }).waitFor()
  await expect.poll(() => tryIt().locator('mark').allTextContents()).toEqual(['17', '18'])
  await tryIt().getByText('100%').first().waitFor()
  await tryIt().getByText('no model was asked').waitFor()
  await visitor.look('extractor-regex')
  await form().getByLabel('Pattern').fill('(?P<what>ção)')
  await tryIt().locator('mark', { hasText: 'ção' }).waitFor()
  await expect.poll(() => tryIt().locator('mark').allTextContents()).toEqual(['ção'])
  await form().getByLabel('Pattern').fill('#(?P<order>\\d+)')
  await form().getByLabel('order').selectOption('number')
  await saved()
  await tryIt().locator('mark', { hasText: '18' }).waitFor()
  visitor.expected.push(/422 \(Unprocessable/)
  await form().getByLabel('Pattern').fill('(?P<order>')
  await form().getByRole('alert').waitFor()
  await page.reload()
  await expect.poll(() => form().getByLabel('Pattern').inputValue()).toBe('(?P<order>')
  await form().getByRole('button', { name: 'Undo changes' }).click()
  await page.getByRole('switch', { name: 'Enable' }).click()
  await page.getByRole('switch', { name: 'Disable' }).waitFor()
  await server.call(token, 'POST', `/sandbox/${reference}/messages`, { from: 'ana', name: 'Ana', type: 'text', text: 'where is #17?' })
  const extracted = async () => (await server.call<{ items: { extracted?: Record<string, unknown> }[] }>(token, 'GET', `/chats/messages?reference=${reference}&chatId=ana@sandbox`)).items[0]?.extracted
  await expect.poll(extracted).toEqual({ order: 17 })
})

test('tests say whether a change makes it better', async () => {
  await tryIt().getByLabel('Text').fill('it is #21')
  await tryIt().locator('mark', { hasText: '21' }).waitFor()
  await tryIt().getByRole('button', { name: 'Store as a test' }).click()
  await tests().getByLabel('New test').fill('order 22 please')
  await tests().getByLabel('Must find', { exact: true }).fill('{"order": 22}')
  await tests().getByRole('button', { name: 'Add the test' }).click()
  await save(tests())
  await tests().getByRole('button', { name: 'Run the tests' }).click()
  await tests().getByText('1 of 2 passed').waitFor()
  await visitor.look('extractor-tests')
  await form().getByLabel('Pattern').fill('(?:#|order )(?P<order>\\d+)')
  await save()
  await tests().getByText('2 of 2 passed').waitFor()
  await tests().getByText(/better · before: 50%/).waitFor()
})

test('values of known kinds, and words of one’s own', async () => {
  await list()
  await create('Pizza sizes', 'Known types of values')
  await form().getByLabel('Your own words').fill('large | big | huge\nsmall | little')
  await saved()
  await tryIt().getByLabel('Text').fill('A litle one for ana@example.com, please')
  await tryIt().locator('mark', { hasText: 'ana@example.com' }).waitFor()
  await expect.poll(() => tryIt().locator('mark').allTextContents()).toEqual(['litle', 'ana@example.com'])
  await visitor.look('extractor-entity')
})

test('intents are learned, and what is taken for what is shown', async () => {
  const { page } = visitor
  await list()
  await create('Wish', 'Intents')
  await form().getByLabel('Examples of price').fill(['how much is it', 'what does it cost', 'price of the large one', 'is it expensive', 'how much do I pay', 'the price please', 'what do you charge', 'cost of delivery'].join('\n'))
  await form().getByLabel('Examples of hours').fill(['when are you open', 'opening hours', 'are you open today', 'until when are you there', 'do you open on sunday', 'what time do you close', 'hours on holidays', 'is the shop open now'].join('\n'))
  await save()
  await page.getByText('learned', { exact: true }).waitFor()
  await tryIt().getByLabel('Text').fill('and how much would that be?')
  await tryIt().getByRole('button', { name: 'Run' }).waitFor({ state: 'detached' })
  await tryIt().getByText('price').first().waitFor()
  await tests().getByLabel('New test').fill('how much is the pizza')
  await tests().getByLabel('Must find', { exact: true }).selectOption('hours')
  await tests().getByRole('button', { name: 'Add the test' }).click()
  await save(tests())
  await page.getByText('learned', { exact: true }).waitFor()
  await tests().getByRole('button', { name: 'Run the tests' }).click()
  await tests().getByText('0 of 1 passed').waitFor()
  await tests().getByRole('region', { name: 'Confused intents' }).getByRole('cell', { name: 'price', exact: true }).waitFor()
  await visitor.look('extractor-intent')
})

test('a model is asked only when told to', async () => {
  await list()
  await create('Product', 'With a model')
  await form().getByLabel('Instructions').fill('A shop that sells pizza.')
  await save()
  await tryIt().getByLabel('Text').fill('one pizza please')
  await tryIt().getByRole('button', { name: 'Run' }).click()
  await tryIt().getByText(/a model was asked/).waitFor()
  await visitor.look('extractor-ai')
})

test('extractors are listed by whose messages they read, deleted, and fit a phone', async () => {
  const { page } = visitor
  await list()
  await page.getByLabel('Messages of').selectOption('reference Phone')
  await page.getByRole('link', { name: /Product/ }).waitFor()
  await visitor.look('extractors')
  await page.getByRole('link', { name: /Product/ }).click()
  await page.getByRole('button', { name: 'Delete Product' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('link', { name: /Wish/ }).waitFor()
  await expect.poll(() => page.getByRole('link', { name: /Product/ }).count()).toBe(0)
  await page.setViewportSize({ width: 360, height: 740 })
  await visitor.fits()
  await visitor.look('extractors-phone')
  await page.getByRole('link', { name: /Wish/ }).click()
  await form().waitFor()
  await visitor.fits()
  await visitor.look('extractor-phone')
})
