import { afterAll, beforeAll, test } from 'vitest'
import { Server, Visitor } from './world'

const server = new Server()
let visitor: Visitor
let token: string

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server)
  token = await visitor.signUp(server)
  await server.call(token, 'POST', '/reference', { name: 'Phone', type: 'provider-sandbox' })
  await visitor.page.reload()
})

afterAll(async () => {
  await visitor.end(server)
})

test('a bot is created, published, and answers', async () => {
  const { page } = visitor
  await page.getByRole('navigation').getByRole('link', { name: 'Flows' }).click()
  await page.getByRole('heading', { name: 'No bots yet' }).waitFor()
  await visitor.look('flows-empty')
  await page.getByRole('button', { name: 'Create a bot' }).click()
  await page.getByLabel('Name').fill('Welcome')
  await page.getByLabel('Begin with').selectOption('a menu and a person')
  await visitor.look('flows-create')
  await page.getByRole('dialog').getByRole('button', { name: 'Create a bot' }).click()
  await page.getByRole('heading', { name: 'Welcome' }).waitFor()
  await page.getByRole('button', { name: 'Publish' }).click()
  await page.getByText('version 1').waitFor()
  await visitor.look('flows-bot')
  await page.getByRole('navigation').getByRole('link', { name: 'Inbox' }).click()
  await page.getByLabel('Write as the contact').fill('hello')
  await page.getByRole('button', { name: 'Send from the phone' }).click()
  await page.getByRole('button', { name: 'Prices' }).click()
  await page.getByText('It costs 20 €.').first().waitFor()
})

test('what another has changed is not overwritten by chance', async () => {
  const { page } = visitor
  visitor.expected.push(/412 \(Precondition Failed\)/)
  const project = await server.call<{ id: string }>(token, 'POST', '/aiflow/project', { name: 'Shop', description: '' })
  const flow = await server.call<{ id: string; draft: object }>(token, 'POST', '/aiflow/flow', { projectId: project.id, name: 'Order', draft: {} })
  await page.goto(`${server.url}/panel/flows/flow/${flow.id}`)
  await page.getByLabel('Document of the flow').fill('{"name": "mine"}')
  await server.call(token, 'PATCH', `/aiflow/flow/${flow.id}`, { draft: { name: 'theirs' } })
  await page.getByRole('button', { name: 'Save the draft' }).click()
  await page.getByRole('dialog', { name: 'Somebody else has changed it' }).waitFor()
  await visitor.look('flows-conflict')
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await page.getByText('Draft saved.').waitFor()
  await page.reload()
  await page.getByText('"mine"').waitFor()
  await visitor.look('flows-flow')
})
