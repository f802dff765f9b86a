import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

const server = new Server()
let visitor: Visitor
let token: string
let project: string

interface Flow {
  id: string
  draft: { name?: string; nodes: Record<string, { config: Record<string, unknown> }> }
  revision: number
  problems: unknown[]
}

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server)
  token = await visitor.signUp(server)
  await sandbox('Phone')
  await visitor.page.reload()
})

afterAll(async () => {
  await visitor.end(server)
})

const sandbox = async (name: string) => (await server.call<{ id: number }>(token, 'POST', '/reference', { name, type: 'provider-sandbox' })).id
const make = (name: string, draft: object) => server.call<Flow>(token, 'POST', '/aiflow/flow', { projectId: project, name, draft })
const read = (id: string) => server.call<Flow>(token, 'GET', `/aiflow/flow/${id}`)
const button = (name: string | RegExp, within = visitor.page) => within.getByRole('button', { name, exact: typeof name === 'string' })
const main = () => visitor.page.getByRole('main')
const dialog = (page = visitor.page) => page.getByRole('dialog')
const saved = (page: Page = visitor.page) => page.locator('.save-state').getByText('Saved', { exact: true })
const text = (page: Page = visitor.page) => page.getByLabel('Document of the flow')
const holds = (part: string, page?: Page) => expect.poll(() => text(page).inputValue(), { timeout: 30_000 }).toContain(part)

async function open(id: string, query = '', page: Page = visitor.page) {
  await page.goto(`${server.url}/panel/flows/flow/${id}${query}`)
  await page.locator('.save-state').waitFor()
}

/** writes has a contact write on a reference, and answers what came back so far. */
async function writes(to: number, words: string): Promise<string[]> {
  await server.call(token, 'POST', `/sandbox/${to}/messages`, { from: 'ana', name: 'Ana', type: 'text', text: words })
  return answers(to)
}

async function answers(to: number): Promise<string[]> {
  const { items } = await server.call<{ items: { direction: string; text?: string }[] }>(token, 'GET', `/sandbox/${to}/messages?from=ana`)
  return items.filter((one) => one.direction === 'in').map((one) => one.text ?? '')
}

const says = (said: string, next?: string) => ({
  format: 'trunkline-flow/1',
  kind: 'flow',
  slug: 'talk',
  name: 'Talk',
  start: 'start',
  nodes: {
    start: { type: 'trigger', config: { on: [{ kind: 'any_message' }] }, next: { out: 'hello' } },
    hello: { type: 'message', config: { text: said }, ...(next ? { next: { out: 'more' } } : {}) },
    ...(next ? { more: { type: 'message', config: { text: next } } } : {}),
  },
})

test('a starter becomes a bot, is published, and answers', async () => {
  const { page } = visitor
  await page.getByRole('navigation').getByRole('link', { name: 'Flows' }).click()
  await page.getByRole('heading', { name: 'No bots yet' }).waitFor()
  await visitor.look('flows-empty')
  await button('Use Welcome menu').click()
  await page.getByLabel('Name', { exact: true }).fill('Welcome')
  await visitor.look('flows-create')
  await dialog().getByRole('button', { name: 'Create a bot' }).click()
  await page.getByRole('heading', { name: 'Welcome' }).waitFor()
  await saved().waitFor()
  await visitor.look('flows-editor')
  await button('Publish').click()
  await dialog().getByRole('heading', { name: 'Contents' }).waitFor()
  await visitor.look('flows-publish')
  await dialog().getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByText('version 1').first().waitFor()
  await page.getByRole('navigation').getByRole('link', { name: 'Inbox' }).click()
  await page.getByLabel('Write as the contact').fill('hello')
  await button('Send from the phone').click()
  await button('Prices').click()
  await page.getByText('It costs 20 €').first().waitFor()
})

test('all starters are sound, and run on a reference', async () => {
  const { page } = visitor
  const first = { 'Collect a lead': 'Nice that you write! What is your name?', 'Opening hours': /Somebody will write|We are closed now/ }
  for (const [starter, answer] of Object.entries(first)) {
    const own = await sandbox(starter)
    await page.goto(`${server.url}/panel/flows`)
    await button('Create a bot').click()
    await page.getByLabel('Name', { exact: true }).fill(starter)
    await page.getByLabel('Reference', { exact: true }).selectOption(starter)
    await page.getByRole('radio', { name: starter }).check()
    await dialog().getByRole('button', { name: 'Create a bot' }).click()
    await page.getByRole('heading', { name: starter }).waitFor()
    await button('Publish').click()
    await dialog().getByRole('heading', { name: 'Contents' }).waitFor()
    await expect.poll(() => dialog().getByText('error', { exact: true }).count()).toBe(0)
    await dialog().getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText('version 1').first().waitFor()
    await expect.poll(() => writes(own, 'hello')).toContainEqual(expect.stringMatching(answer))
  }
})

test('bots are renamed, duplicated and deleted', async () => {
  const { page } = visitor
  await page.goto(`${server.url}/panel/flows`)
  await button('More for Opening hours').click()
  await visitor.look('flows-menu')
  await button('Rename').click()
  await dialog().getByLabel('Name', { exact: true }).fill('Night')
  await dialog().getByRole('button', { name: 'Save' }).click()
  await button('More for Night').click()
  await button('Duplicate').click()
  await page.getByRole('heading', { name: 'Night (copy)' }).waitFor()
  await page.goBack()
  await button('More for Night (copy)').click()
  await button('Delete').click()
  await dialog().getByRole('button', { name: 'Delete' }).click()
  await button('More for Night (copy)').waitFor({ state: 'detached' })
})

test('a flow with a switch, a loop and a function is published and answers', async () => {
  const { page } = visitor
  await page.goto(`${server.url}/panel/flows`)
  await button('Create a project').click()
  await dialog().getByLabel('Name', { exact: true }).fill('Shop')
  await dialog().getByRole('button', { name: 'Create a project' }).click()
  const shop = page.getByRole('region', { name: 'Shop' })
  await shop.waitFor()
  project = (await server.call<{ items: { id: string }[] }>(token, 'GET', '/aiflow/project/list')).items[0]!.id

  await shop.getByRole('button', { name: 'Create a flow' }).click()
  await dialog().getByLabel('Name', { exact: true }).fill('Vat')
  await dialog().getByLabel('Kind').selectOption('function')
  await dialog().getByRole('button', { name: 'Create a flow' }).click()
  await page.getByRole('heading', { name: 'Vat' }).waitFor()
  await button('Text').click()
  await text().fill(JSON.stringify(vat))
  await saved().waitFor()
  await button('Publish').click()
  await dialog().getByText('Nothing uses it yet.').waitFor()
  await dialog().getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByText('version 1').first().waitFor()

  const own = await sandbox('Orders')
  const order = await make('Order', prices)
  await open(order.id)
  await visitor.look('flows-order')
  await button('Publish').click()
  await dialog().getByText('It is bound to no reference yet').waitFor()
  await dialog().getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByRole('checkbox', { name: 'Orders' }).check()
  await page.getByText('Bots and flows on Orders').waitFor()
  await visitor.look('flows-references')
  await writes(own, 'gross')
  await expect.poll(() => answers(own)).toEqual(expect.arrayContaining(['12', '24']))
  await writes(own, 'net')
  await expect.poll(() => answers(own)).toContain('Net: 10, 20')
})

test('a run is shown on the canvas, step by step, as it happens', async () => {
  const { page } = visitor
  await page.getByRole('navigation').getByRole('link', { name: 'Runs' }).click()
  await page.locator('.run-row').last().click()
  await page.getByRole('link', { name: 'Flow', exact: true }).click()
  await page.getByText('A run is shown').waitFor()
  const steps = page.getByLabel('Up to step')
  const last = Number(await steps.getAttribute('max'))
  expect(last).toBeGreaterThan(6)
  await visitor.look('flows-run')
  await steps.focus()
  await page.keyboard.press('Home')
  await page.getByText(`Step 1 of ${last}`).waitFor()
  await button('Next step').click()
  await page.getByText(`Step 2 of ${last}`).waitFor()
  await visitor.look('flows-run-step')
  await button('Back to the draft').click()
  await page.getByText('A run is shown').waitFor({ state: 'detached' })

  const waits = await make('Waits', { ...says('Begun'), slug: 'waits', nodes: { ...says('Begun').nodes, hello: { type: 'wait', config: { event: 'paid' }, next: { out: 'end' } }, end: { type: 'end' } } })
  await server.call(token, 'POST', `/aiflow/flow/${waits.id}/publish`)
  const run = await server.call<{ id: string }>(token, 'POST', '/aiflow/run', { flowId: waits.id, input: {} })
  await open(waits.id, '?side=runs')
  await page.locator('.step-row').first().click()
  await page.getByText('Step 2 of 2').waitFor()
  await server.call(token, 'POST', `/aiflow/run/${run.id}/event`, { name: 'paid', data: {} })
  await page.getByText('Step 3 of 3').waitFor()
  await page.locator('.flow-side').getByText('completed').waitFor()
})

test('a draft is tried beside the canvas, and what was said becomes a test', async () => {
  const { page } = visitor
  const flow = await make('Names', names)
  await open(flow.id, '?side=try')
  await visitor.look('flows-try-empty')
  await page.getByLabel('Write to the draft').fill('hi')
  await page.keyboard.press('Enter')
  const screen = page.getByRole('log', { name: 'Conversation with the draft' })
  await screen.getByText('What is your name?').waitFor()
  await page.getByLabel('Write to the draft').fill('ben')
  await page.keyboard.press('Enter')
  await screen.getByText('Nice to meet you, Ben.').waitFor()
  await screen.getByText('completed').waitFor()
  await page.locator('.step-row').filter({ hasText: 'ask' }).first().click()
  await page.getByRole('region', { name: 'Step ask' }).waitFor()
  await visitor.look('flows-try')
  await button('Undo the last turn').click()
  await page.getByLabel('Write to the draft').fill('eve')
  await page.keyboard.press('Enter')
  await screen.getByText('Nice to meet you, Eve.').waitFor()
  await button('Store as a test').click()
  await dialog().getByLabel('Name of the test').fill('eve')
  await dialog().getByRole('button', { name: 'Store as a test' }).click()
  await page.getByText('The test was stored.').waitFor()
  await button('Tests').click()
  await button('Run all').click()
  await page.getByText('1 of 1 passed').waitFor()
  await visitor.look('flows-tests')

  await server.call(token, 'PATCH', `/aiflow/flow/${flow.id}`, { draft: { ...names, nodes: { ...names.nodes, greet: { type: 'message', config: { text: 'Bye.' } } } } })
  await button('Run all').click()
  await page.getByText('0 of 1 passed').waitFor()
  await visitor.look('flows-tests-failed')
})

test('versions are compared, restored and rolled back to', async () => {
  const { page } = visitor
  const flow = await make('Talk', says('One'))
  await server.call(token, 'POST', `/aiflow/flow/${flow.id}/publish`)
  await server.call(token, 'PATCH', `/aiflow/flow/${flow.id}`, { draft: says('Two', 'And more') })
  await open(flow.id)
  await button('Publish').click()
  await dialog().getByText('One', { exact: true }).waitFor()
  await visitor.look('flows-publish-changes')
  await dialog().getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByText('version 2').first().waitFor()
  await page.goto(`${server.url}/panel/flows/flow/${flow.id}?side=versions`)
  await button('Compare').last().click()
  await dialog().getByText('Two', { exact: true }).waitFor()
  await visitor.look('flows-compare')
  await page.keyboard.press('Escape')
  await visitor.look('flows-versions')
  await button('Restore as draft').last().click()
  await expect.poll(async () => (await read(flow.id)).draft.nodes.hello?.config.text).toBe('One')
  await button('Roll back to this version').click()
  await dialog().getByRole('button', { name: 'Roll back to this version' }).click()
  await page.locator('.flow-head').getByText('version 1').waitFor()
})

test('two tabs do not overwrite each other', async () => {
  const { page } = visitor
  visitor.expected.push(/412 \(Precondition Failed\)/, /ERR_FAILED/)
  const flow = await make('Order 2', { name: 'both' })
  await open(flow.id, '?view=text')
  const other = await visitor.context.newPage()
  visitor.watch(other, server)
  await open(flow.id, '?view=text', other)
  await text().fill('{"name": "first"}')
  await holds('"first"', other) // a tab without edits follows
  await other.route('**/aiflow/flow/*', (route) => (route.request().method() === 'PATCH' ? route.abort() : route.continue()))
  await text(other).fill('{"name": "theirs"}')
  await other.getByText('Not saved: offline').waitFor()
  await text().fill('{"name": "mine"}')
  await saved().waitFor()
  await other.unroute('**/aiflow/flow/*')
  await other.getByRole('dialog', { name: /Another person saved revision/ }).waitFor()
  await other.getByText('"mine"').or(other.getByText('mine', { exact: true })).first().waitFor()
  await other.bringToFront()
  visitor.page = other
  await visitor.look('flows-conflict')
  await other.keyboard.press('Escape')
  await button('Decide', other).click()
  await button('Keep mine as a copy', other).click()
  await other.getByRole('heading', { name: 'Order 2 (copy)' }).waitFor()
  await other.close()
  visitor.page = page
  await expect.poll(async () => (await read(flow.id)).draft.name).toBe('mine')

  await server.call(token, 'PATCH', `/aiflow/flow/${flow.id}`, { draft: { name: 'a program' } })
  await text().fill('{"name": "mine again"}')
  await dialog().getByText('a program').waitFor()
  await button('Overwrite the other version').click()
  await saved().waitFor()
  await expect.poll(async () => (await read(flow.id)).draft.name).toBe('mine again')

  await server.call(token, 'PATCH', `/aiflow/flow/${flow.id}`, { draft: { name: 'a program' } })
  await text().fill('{"name": "not so"}')
  await button('Load the other version').click()
  await holds('"a program"')
})

test('nothing typed is lost with the server, the page or the tab', async () => {
  visitor.expected.push(/Failed to load resource|ERR_/)
  const flow = await make('Kept', { name: 'begin' })
  await open(flow.id, '?view=text')
  await text().fill('{"name": "before"}')
  await saved().waitFor()
  await server.stop()
  await text().fill('{"name": "while the server is away"}')
  await visitor.page.getByText('Not saved: offline').waitFor()
  await visitor.look('flows-offline')
  await text().fill('{"name": "and more"}')
  await server.start()
  await saved().waitFor({ timeout: 30_000 })
  await expect.poll(async () => (await read(flow.id)).draft.name).toBe('and more')

  await text().fill('{"name": "half a docu')
  await visitor.page.getByText('Not saved: this is not valid JSON yet').waitFor()
  await visitor.page.reload()
  await holds('half a docu')

  await server.stop()
  await text().fill('{"name": "the tab is gone"}')
  await visitor.page.getByText('Not saved: offline').waitFor()
  await visitor.page.close()
  await server.start()
  visitor.page = await visitor.context.newPage()
  visitor.watch(visitor.page, server)
  await open(flow.id, '?view=text')
  await holds('the tab is gone')
  await expect.poll(async () => (await read(flow.id)).draft.name).toBe('the tab is gone')

  await text().fill('{"name": "elsewhere in the panel"}')
  await visitor.page.getByRole('navigation').getByRole('link', { name: 'Runs' }).click()
  await expect.poll(async () => (await read(flow.id)).draft.name).toBe('elsewhere in the panel')
})

test('a draft is proposed after a description, and taken only when it is wanted', async () => {
  const { page } = visitor
  const flow = await make('Wish', says('Nothing'))
  await open(flow.id, '?side=describe')
  await page.getByLabel('What should the flow do?').fill('Ask for the name and the city, then hand over to a person.')
  await button('Propose a draft').click()
  await page.getByRole('heading', { name: 'The proposal, compared with the draft' }).waitFor()
  await visitor.look('flows-proposal')
  expect((await read(flow.id)).revision).toBe(flow.revision)
  await button('Use it as the draft').click()
  await expect.poll(async () => (await read(flow.id)).revision).toBeGreaterThan(flow.revision)
})

test('a file of Typebot is imported, and what was lost is said', async () => {
  const { page } = visitor
  await page.goto(`${server.url}/panel/flows`)
  await button('Import').click()
  await dialog().getByLabel('File').setInputFiles(join(import.meta.dirname, '../../../aiflow/typebot/testdata/logic.json'))
  await dialog().getByRole('button', { name: 'Import' }).click()
  await dialog().getByText('Errors list what could not be imported').waitFor()
  await visitor.look('flows-imported')
  await dialog().getByRole('link', { name: 'Everything' }).click()
  await page.getByRole('heading', { name: 'Everything' }).waitFor()
  await page.goto(`${server.url}/panel/flows`)
  await button('More for Shop').click()
  const file = page.waitForEvent('download')
  await button('Export as a file').click()
  expect((await file).suggestedFilename()).toBe('Shop.trunkline.json')
  await visitor.look('flows')
})

test('the head of the editor is one row, in every language', async () => {
  const { page } = visitor
  const own = await server.call<{ id: string }>(token, 'POST', '/aiflow/project', { name: 'Heads' })
  const name = 'A welcome for all who are new here'
  const { id } = await server.call<Flow>(token, 'POST', '/aiflow/flow', { projectId: own.id, name, draft: { ...says('Hello'), slug: 'head', name } })
  for (const language of ['es', 'pt', 'en']) {
    await page.evaluate((code) => localStorage.setItem('trunkline.language', code), language)
    await open(id)
    const head = page.locator('.flow-head')
    await expect.poll(() => head.evaluate((head) => head.getBoundingClientRect().height), { message: language }).toBeLessThan(60)
    await expect.poll(() => head.evaluate((head) => head.scrollWidth - head.clientWidth), { message: language }).toBeLessThanOrEqual(0)
  }
})

test('flows fit a phone, in every language', async () => {
  const { page } = visitor
  await page.setViewportSize({ width: 360, height: 740 })
  await page.goto(`${server.url}/panel/flows`)
  await main().getByRole('heading', { name: 'Projects' }).waitFor()
  await visitor.fits()
  await visitor.look('flows-phone')
  const { items } = await server.call<{ items: { id: string }[] }>(token, 'GET', `/aiflow/flow/list?projectId=${project}`)
  for (const language of ['en', 'pt', 'es']) {
    await page.evaluate((code) => localStorage.setItem('trunkline.language', code), language)
    for (const side of ['', 'try', 'tests', 'runs', 'versions', 'references', 'describe']) {
      await open(items[1]!.id, side && `?side=${side}`)
      await visitor.fits()
      if (language === 'en') await visitor.look(`flows-phone-${side || 'editor'}`)
    }
  }
}, 180_000)

const vat = {
  format: 'trunkline-flow/1',
  kind: 'function',
  slug: 'vat',
  name: 'Vat',
  start: 'give',
  args: { net: { type: 'number' } },
  returns: { gross: { type: 'number' } },
  nodes: { give: { type: 'return', config: { value: { gross: '{{ args.net * 1.2 }}' } } } },
}

const prices = {
  format: 'trunkline-flow/1',
  kind: 'flow',
  slug: 'order',
  name: 'Order',
  start: 'start',
  variables: { result: { type: 'object' } },
  nodes: {
    start: { type: 'trigger', config: { on: [{ kind: 'any_message' }] }, next: { out: 'which' } },
    which: { type: 'switch', config: { value: '{{ input.text }}', cases: [{ id: 'gross', equals: 'gross' }] }, next: { gross: 'each', default: 'net' } },
    each: { type: 'loop', config: { kind: 'each', items: '[10, 20]' }, next: { body: 'add' } },
    add: { type: 'call', config: { function: 'vat', args: { net: '{{ item }}' }, saveTo: 'result' }, next: { out: 'say' } },
    say: { type: 'message', config: { text: '{{ vars.result.gross }}' } },
    net: { type: 'message', config: { text: 'Net: 10, 20' } },
  },
}

const names = {
  format: 'trunkline-flow/1',
  kind: 'flow',
  slug: 'names',
  name: 'Names',
  start: 'start',
  variables: { name: { type: 'string' } },
  nodes: {
    start: { type: 'trigger', config: { on: [{ kind: 'any_message' }] }, next: { out: 'ask' } },
    ask: { type: 'question', config: { prompt: { text: 'What is your name?' }, expect: 'text', saveTo: 'name' }, next: { out: 'greet' } },
    greet: { type: 'message', config: { text: 'Nice to meet you, {{ title(vars.name) }}.' } },
  },
}
