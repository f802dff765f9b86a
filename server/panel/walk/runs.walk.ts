import { afterAll, beforeAll, test } from 'vitest'
import { Server, Visitor } from './world'

const server = new Server()
let visitor: Visitor
let token: string

const draft = {
  format: 'trunkline-flow/1',
  kind: 'flow',
  name: 'Order',
  slug: 'order',
  start: 'start',
  variables: { n: { type: 'integer' } },
  nodes: {
    start: { type: 'trigger', config: { on: [{ kind: 'any_message' }] }, next: { out: 'each' } },
    each: { type: 'loop', config: { kind: 'count', times: '2' }, next: { body: 'note', done: 'wait' } },
    note: { type: 'set', config: { assign: [{ var: 'n', op: 'increment' }] } },
    wait: { type: 'wait', config: { event: 'paid' }, next: { out: 'end' } },
    end: { type: 'end' },
  },
}

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server)
  token = await visitor.signUp(server)
})

afterAll(async () => {
  await visitor.end(server)
})

test('a run is watched, and told what it waits for', async () => {
  const { page } = visitor
  await page.getByRole('navigation').getByRole('link', { name: 'Runs' }).click()
  await page.getByRole('heading', { name: 'No runs yet' }).waitFor()
  await visitor.look('runs-empty')
  const project = await server.call<{ id: string }>(token, 'POST', '/aiflow/project', { name: 'Shop', description: '' })
  const flow = await server.call<{ id: string }>(token, 'POST', '/aiflow/flow', { projectId: project.id, name: 'Order', draft })
  await server.call(token, 'POST', `/aiflow/flow/${flow.id}/publish`)
  await server.call(token, 'POST', '/aiflow/run', { flowId: flow.id, chatId: null, input: {} })
  await page.getByRole('link', { name: /waiting: an event/ }).click()
  await page.getByRole('heading', { name: 'Steps' }).waitFor()
  await page.getByText('each[1]').first().waitFor()
  await page.locator('summary').filter({ hasText: 'wait' }).first().click()
  await visitor.look('run')
  await page.getByRole('button', { name: 'Send an event' }).click()
  await page.getByLabel('Name of the event').fill('paid')
  await visitor.look('run-event')
  await page.getByRole('dialog').getByRole('button', { name: 'Send an event' }).click()
  await page.getByText('completed').first().waitFor()
  await page.goto(`${server.url}/panel/runs?status=completed`)
  await page.getByRole('link', { name: /completed/ }).waitFor()
  await visitor.look('runs')
})
