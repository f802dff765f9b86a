import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

// What a newcomer does in the first five minutes, without another tool.

const server = new Server()
let visitor: Visitor
let reference: string

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server)
})

afterAll(async () => {
  await visitor.end(server)
})

const button = (name: string | RegExp) => visitor.page.getByRole('button', { name, exact: typeof name === 'string' })
const dialog = () => visitor.page.getByRole('dialog')
const menu = (name: string) => visitor.page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
const phone = () => visitor.page.getByRole('region', { name: /screen/ })

test('a newcomer signs up and sees what to do first', async () => {
  await visitor.signUp(server)
  await visitor.page.getByRole('heading', { name: 'First steps' }).waitFor()
  await visitor.look('home')
  await visitor.page.getByLabel('Language').selectOption('pt')
  await visitor.page.getByRole('heading', { name: 'Primeiros passos' }).waitFor()
  await visitor.page.getByLabel('Idioma').selectOption('en')
  await visitor.page.getByRole('heading', { name: 'First steps' }).click()
  await visitor.page.keyboard.press('?')
  await visitor.page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  await visitor.look('keys')
  await visitor.page.keyboard.press('Escape')
})

test('the check of accessibility sees what is wrong', async () => {
  await visitor.page.evaluate(() => {
    document.querySelector('main')?.append(Object.assign(document.createElement('button'), { id: 'nameless' }))
  })
  expect((await visitor.faults()).join()).toContain('button-name')
  await visitor.page.evaluate(() => document.getElementById('nameless')?.remove())
})

test('a sandbox is made, its phone is written on, and an answer reaches it', async () => {
  const { page } = visitor
  await button('Create sandbox').click()
  await page.getByLabel('Write as the contact').fill('price')
  await button('Send from the phone').click()
  await page.getByRole('region', { name: 'Messages' }).getByText('price').waitFor()
  reference = /inbox\/(\d+)/.exec(page.url())![1]!
  await page.getByLabel('Message', { exact: true }).fill('20 €')
  await page.keyboard.press('Control+Enter')
  await phone().getByText('20 €').waitFor()
})

test('a webhook is added, tested and replayed', async () => {
  const { page } = visitor
  await menu('Webhooks')
  await button('Add a webhook').first().click()
  await button('Use echo endpoint').click()
  await button('Add').click()
  await page.getByText('whsec_').waitFor()
  await button('Close').last().click()
  await button('Send test').click()
  await page.getByText('200').first().waitFor()
  await page.goto(`${server.url}/panel/inbox/${reference}/${encodeURIComponent('ana@sandbox')}`)
  await page.getByLabel('Write as the contact').fill('thanks')
  await button('Send from the phone').click()
  await page.getByRole('region', { name: 'Messages' }).getByText('thanks').waitFor()
  await menu('Webhooks')
  const delivery = page.locator('.delivery', { hasText: 'ana@sandbox' }).filter({ hasText: 'delivered' }).first()
  await delivery.locator('summary').click()
  await delivery.getByRole('button', { name: 'Replay' }).click()
  await page.getByText('attempts: 2').waitFor()
})

test('a bot is mended, published, tried, and answers the phone', async () => {
  const { page } = visitor
  await menu('Flows')
  await button('Use Welcome menu').click()
  await page.getByLabel('Name', { exact: true }).fill('Welcome bot')
  await dialog().getByRole('button', { name: 'Create a bot' }).click()
  await page.getByRole('heading', { name: 'Welcome bot' }).waitFor()
  await page.locator('.react-flow__node', { hasText: 'prices' }).click()
  const words = page.getByRole('region', { name: 'Message', exact: true }).getByLabel('Text')
  await words.fill('It costs {{ vars.price }}')
  const problems = button(/problems: 1/)
  await problems.click()
  await visitor.look('first-problem')
  await page.getByRole('list', { name: /problems: 1/ }).getByRole('button').click()
  await expect.poll(() => words.evaluate((field) => field === document.activeElement)).toBe(true)
  await page.keyboard.press('Control+A')
  await page.keyboard.type('It costs 20 € a month.')
  await problems.waitFor({ state: 'detached' })
  await page.locator('.save-state').getByText('Saved', { exact: true }).waitFor()
  await button('Publish').click()
  await dialog().getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByText('version 1').first().waitFor()
  await button('Try it').click()
  await page.getByLabel('Write to the draft').fill('price')
  await page.keyboard.press('Enter')
  await page.getByRole('log').getByRole('button', { name: 'Prices' }).click()
  await page.getByRole('log').getByText('It costs 20 € a month.').waitFor()
  await expect.poll(() => page.locator('.react-flow__node').filter({ hasText: 'done' }).count()).toBe(3)
  await visitor.look('first-tried')

  await page.goto(`${server.url}/panel/inbox/${reference}`)
  await page.getByLabel('Contact', { exact: true }).fill('ben')
  await page.getByLabel('Write as the contact').fill('price')
  await button('Send from the phone').click()
  await phone().getByRole('button', { name: 'Prices' }).click()
  await phone().getByText('It costs 20 € a month.').waitFor()
  await button('What happened?').first().click()
  await dialog().getByRole('link', { name: 'Run' }).click()
  await page.getByRole('link', { name: 'Flow', exact: true }).click()
  await page.getByText('A run is shown').waitFor()
  await visitor.look('first-run')
})

test('what a model took is shown', async () => {
  const { page } = visitor
  await menu('Extractors')
  await button('New extractor').click()
  await page.getByLabel('Name').fill('Wishes')
  await page.getByRole('radio', { name: /With a model/ }).check()
  await dialog().getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { name: 'Wishes' }).waitFor()
  const tryIt = page.getByRole('region', { name: 'Try it' })
  await tryIt.getByLabel('Text', { exact: true }).fill('I would like two red chairs')
  await tryIt.getByRole('button', { name: 'Run' }).click()
  await expect.poll(() => page.evaluate(async () => (await fetch('/aiusage/rollup?groupBy=day')).json().then((all: { total: { calls: number } }) => all.total.calls))).toBeGreaterThan(0)
  await menu('Usage')
  await page.getByRole('img', { name: /Bars/ }).waitFor()
  await page.getByLabel('Show', { exact: true }).selectOption('tokens')
  await page.getByRole('img', { name: /Bars: Tokens/ }).waitFor()
  await visitor.look('first-usage')
})

test('the first steps are done', async () => {
  await menu('Home')
  await visitor.page.getByRole('heading', { name: 'Health' }).or(visitor.page.getByRole('heading', { name: 'References' })).first().waitFor()
  await visitor.page.getByRole('heading', { name: 'First steps' }).waitFor({ state: 'detached' })
  await visitor.look('first-home')
})
