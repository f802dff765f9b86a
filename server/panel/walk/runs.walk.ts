import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

/** A provider of a model that calls the first function that it may, once. */
const provider = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part)).on('end', () => {
    response.setHeader('Content-Type', 'application/json')
    if (request.url?.endsWith('/models')) return response.end(JSON.stringify({ object: 'list', data: [{ id: 'house-model', object: 'model', created: 1, owned_by: 'house' }] }))
    const asked = JSON.parse(Buffer.concat(parts).toString()) as { tools?: { function: { name: string } }[]; messages: { role: string }[] }
    const tool = asked.messages.some((one) => one.role === 'tool') ? undefined : asked.tools?.[0]?.function.name
    const message = tool ? { role: 'assistant', content: null, tool_calls: [{ id: 'call-1', type: 'function', function: { name: tool, arguments: '{}' } }] } : { role: 'assistant', content: 'It failed.' }
    return response.end(JSON.stringify({ id: '1', object: 'chat.completion', created: 1, model: 'house-model', choices: [{ index: 0, finish_reason: tool ? 'tool_calls' : 'stop', message }], usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 } }))
  })
})

let server: Server
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
  await page.locator('summary').filter({ hasText: 'end' }).getByText('done').waitFor()
  await expect.poll(() => page.getByRole('region', { name: 'Steps' }).getByText('waiting', { exact: true }).count()).toBe(0)
  await page.goto(`${server.url}/panel/runs?status=completed`)
  await page.getByRole('link', { name: /completed/ }).waitFor()
  await visitor.look('runs')
})

test('a failed run of a function is drawn on the function, and leads to the run that started it', async () => {
  const { page } = visitor
  const project = await server.call<{ id: string }>(token, 'POST', '/aiflow/project', { name: 'House', description: '' })
  const vat = {
    format: 'trunkline-flow/1',
    kind: 'function',
    name: 'VAT',
    slug: 'vat',
    description: 'Computes the tax.',
    start: 'rates',
    nodes: { rates: { type: 'http', config: { method: 'GET', url: 'http://127.0.0.1:1/' } } },
  }
  const talk = {
    format: 'trunkline-flow/1',
    kind: 'flow',
    name: 'Talk',
    slug: 'talk',
    start: 'start',
    nodes: {
      start: { type: 'trigger', config: { on: [{ kind: 'any_message' }] }, next: { out: 'clerk' } },
      clerk: { type: 'agent', config: { model: 'openai/house-model', input: 'the tax', functions: ['vat'], send: false } },
    },
  }
  const fn = await server.call<{ id: string }>(token, 'POST', '/aiflow/flow', { projectId: project.id, name: 'VAT', draft: vat })
  await server.call(token, 'POST', `/aiflow/flow/${fn.id}/publish`)
  const flow = await server.call<{ id: string }>(token, 'POST', '/aiflow/flow', { projectId: project.id, name: 'Talk', draft: talk })
  await server.call(token, 'POST', `/aiflow/flow/${flow.id}/publish`)
  const parent = await server.call<{ id: string }>(token, 'POST', '/aiflow/run', { flowId: flow.id, chatId: null, input: {} })
  await page.goto(`${server.url}/panel/runs/flow/${parent.id}`)
  await page.getByRole('region', { name: 'Runs that it started' }).getByRole('link', { name: /failed/ }).click()
  await page.getByRole('link', { name: 'Parent run' }).waitFor()
  await visitor.look('run-child')
  await page.getByRole('link', { name: 'Flow', exact: true }).click()
  await page.getByRole('heading', { name: 'VAT' }).waitFor()
  await page.getByText('on the function as it is now').waitFor()
  await page.locator('.react-flow__node').filter({ hasText: 'rates' }).waitFor()
  await visitor.look('run-child-drawn')
  await page.getByRole('link', { name: 'Parent run' }).click()
  await expect.poll(() => page.url()).toContain(parent.id)
})
