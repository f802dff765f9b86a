import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Server, Visitor } from './world'

interface Flow {
  id: string
  draft: { nodes: Record<string, { type: string; config?: Record<string, unknown>; next?: Record<string, string> }>; ui?: { nodes: Record<string, { x: number; y: number }> }; start: string }
}

const server = new Server()
let visitor: Visitor
let token: string
let project: string

const blank = (slug: string) => ({ format: 'trunkline-flow/1', kind: 'flow', slug, name: slug, start: '', variables: { total: { type: 'any' } }, nodes: {} })

async function open(slug: string, draft: object = blank(slug)): Promise<string> {
  const flow = await server.call<Flow>(token, 'POST', '/aiflow/flow', { projectId: project, name: slug, draft })
  await visitor.page.goto(`${server.url}/panel/flows/flow/${flow.id}`)
  await visitor.page.getByRole('application', { name: 'Drawing of the flow' }).waitFor()
  return flow.id
}

/** saved is the draft that the server has once it is as a test expects. */
async function saved(id: string, as: (draft: Flow['draft']) => void): Promise<Flow['draft']> {
  const looked = async () => {
    const { draft } = await server.call<Flow>(token, 'GET', `/aiflow/flow/${id}`)
    as(draft)
    return draft
  }
  return vi.waitFor(looked, { timeout: 20_000, interval: 100 })
}

const types = (draft: Flow['draft']) => Object.fromEntries(Object.entries(draft.nodes).map(([id, node]) => [id, node.type]))
const node = (id: string) => visitor.page.locator(`.react-flow__node[data-id="${id}"]`)
const inspector = (name: string) => visitor.page.getByRole('region', { name, exact: true })

/** pull draws an edge from an output to somewhere, seen from the output. */
async function pull(id: string, output: string, to: { x: number; y: number } | string) {
  const { mouse } = visitor.page
  const handle = node(id).locator(`.port[data-handleid="${output}"]`)
  await handle.hover() // which waits until the drawing stands still
  const port = await handle.boundingBox()
  const target = typeof to === 'string' ? await node(to).boundingBox() : null
  if (!port) throw new Error(`${id} has no output ${output}`)
  const from = { x: port.x + port.width / 2, y: port.y + port.height / 2 }
  const end = typeof to === 'string' ? { x: (target?.x ?? 0) + 40, y: (target?.y ?? 0) + 20 } : { x: from.x + to.x, y: from.y + to.y }
  await mouse.move(from.x, from.y)
  await mouse.down()
  await mouse.move((from.x + end.x) / 2, (from.y + end.y) / 2, { steps: 3 })
  await mouse.move(end.x, end.y, { steps: 3 })
  await mouse.up()
}

/** create pulls an edge to nothing, and puts a node of a type where it was dropped. */
async function create(id: string, output: string, to: { x: number; y: number }, type: string) {
  const picker = visitor.page.getByRole('dialog', { name: 'Add a node' })
  await pull(id, output, to)
  await picker.waitFor({ timeout: 3_000 }).catch(() => pull(id, output, to)) // the drawing moved under the mouse
  await picker.getByLabel('Search for a node type').fill(type)
  await visitor.page.keyboard.press('Enter')
  await picker.waitFor({ state: 'detached' })
}

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server, { width: 1440, height: 900 })
  token = await visitor.signUp(server)
  project = (await server.call<{ id: string }>(token, 'POST', '/aiflow/project', { name: 'Shop', description: '' })).id
  const vat = {
    ...blank('vat'),
    kind: 'function',
    start: 'back',
    variables: {},
    args: { net: { type: 'number' } },
    returns: { gross: { type: 'number' } },
    nodes: { back: { type: 'return', config: { value: { gross: '{{ args.net * 2 }}' } } } },
  }
  const made = await server.call<Flow>(token, 'POST', '/aiflow/flow', { projectId: project, name: 'VAT', draft: vat })
  await server.call(token, 'POST', `/aiflow/flow/${made.id}/publish`, {})
})

afterAll(async () => {
  await visitor.end(server)
})

test('a flow with a switch, a loop and a function is drawn with the mouse', async () => {
  const { page } = visitor
  const id = await open('by-mouse')
  await visitor.look('canvas-empty')
  await page.getByRole('button', { name: 'Trigger' }).click()
  await inspector('Trigger').getByRole('button', { name: 'On', exact: true }).click()
  await inspector('Trigger').getByLabel('Kind').selectOption('any_message')
  await node('trigger').dragTo(page.locator('.react-flow__pane'), { sourcePosition: { x: 60, y: 20 }, targetPosition: { x: 300, y: 120 } })
  await create('trigger', 'out', { x: 0, y: 90 }, 'switch')
  await inspector('Switch').getByRole('combobox', { name: 'Value' }).fill('{{ input.text }}')
  await inspector('Switch').getByLabel('Id', { exact: true }).first().fill('list')
  await inspector('Switch').getByRole('combobox', { name: 'Equals' }).fill('list')
  await create('switch', 'list', { x: -60, y: 90 }, 'loop')
  await inspector('Loop').getByRole('combobox', { name: 'Times' }).fill('2')
  await create('loop', 'body', { x: -60, y: 90 }, 'call')
  await inspector('Call a function').getByLabel('Function', { exact: true }).selectOption('vat')
  await inspector('Call a function').getByRole('button', { name: 'Args' }).click()
  await inspector('Call a function').getByLabel('Name').nth(1).fill('net')
  await page.keyboard.press('Enter')
  await inspector('Call a function').getByRole('combobox', { name: 'Value' }).fill('{{ index }}')
  await inspector('Call a function').getByLabel('Save to').fill('total')
  await page.getByRole('button', { name: 'Show all' }).click()
  await create('call', 'out', { x: 0, y: 70 }, 'message')
  // A name is offered while it is typed.
  const text = inspector('Message').getByRole('textbox', { name: 'Text' })
  await text.pressSequentially('Twice is {{ vars.to')
  await inspector('Message').getByRole('option', { name: 'vars.total' }).click()
  await text.press('End')
  // A type is dragged to where it shall stand, and an edge to any place of it.
  await page.getByRole('button', { name: 'Show all' }).click()
  const board = page.locator('.react-flow__pane')
  const area = await board.boundingBox()
  await page.getByRole('button', { name: 'End', exact: true }).dragTo(board, { targetPosition: { x: (area?.width ?? 0) - 160, y: 420 } })
  // The drawing may still be moving when the mouse is there already: then it is pulled again.
  for (const [node, port] of [
    ['switch', 'default'],
    ['loop', 'done'],
  ] as const) {
    const drawn = (draft: Awaited<ReturnType<typeof saved>>) => expect(draft.nodes[node]?.next).toMatchObject({ [port]: 'end' })
    await pull(node, port, 'end')
    await saved(id, drawn).catch(async () => {
      await page.keyboard.press('Escape') // what was offered where it fell
      await pull(node, port, 'end')
    })
  }
  const draft = await saved(id, (draft) => expect(draft.nodes.loop?.next).toEqual({ body: 'call', done: 'end' }))
  expect(draft.start).toBe('trigger')
  expect(draft.nodes).toEqual({
    trigger: { type: 'trigger', config: { on: [{ kind: 'any_message' }] }, next: { out: 'switch' } },
    switch: { type: 'switch', config: { value: '{{ input.text }}', cases: [{ id: 'list', equals: 'list' }] }, next: { list: 'loop', default: 'end' } },
    loop: { type: 'loop', config: { kind: 'count', times: '2' }, next: { body: 'call', done: 'end' } },
    call: { type: 'call', config: { function: 'vat', args: { net: '{{ index }}' }, saveTo: 'total' }, next: { out: 'message' } },
    message: { type: 'message', config: { text: 'Twice is {{ vars.total }}' } },
    end: { type: 'end' },
  })
  expect(Object.keys(draft.ui?.nodes ?? {})).toHaveLength(6)
  await expect.poll(() => page.getByText(/problems: \d/).count()).toBe(0)
  await page.getByRole('button', { name: 'Tidy up' }).click()
  await visitor.look('canvas-mouse')
})

/** tab goes on until what has the focus is called so. */
async function tab(name: RegExp, most = 80) {
  const { page } = visitor
  for (let n = 0; n < most; n++) {
    await page.keyboard.press('Tab')
    const named = await page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement | null
      const label = element?.labels?.[0]?.textContent ?? element?.getAttribute('aria-label') ?? element?.textContent ?? ''
      return label.trim()
    })
    if (name.test(named)) return
  }
  throw new Error(`nothing called ${name} is reached`)
}

/** put adds a node of a type and opens what is asked of it, by keys alone. */
async function put(type: string, heading: string) {
  const { keyboard } = visitor.page
  await keyboard.press('/')
  await keyboard.type(type)
  await keyboard.press('Enter')
  await settle(heading)
}

/** settle waits until the new node has the focus, and goes into its form. */
async function settle(heading: string) {
  const { page } = visitor
  await inspector(heading).waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.classList.contains('react-flow__node'))).toBe(true)
  await page.keyboard.press('Enter')
  await expect.poll(() => page.evaluate(() => document.activeElement?.closest('.side') !== null)).toBe(true)
}

/** choose takes an option of the choice that has the focus, as its letters are typed. */
async function choose(option: string) {
  await visitor.page.keyboard.type(option)
}

/** next connects an output to a new node, by keys alone. */
async function next(output: string, type: string, heading: string) {
  await tab(new RegExp(`^New node at ${output}$`))
  await visitor.page.keyboard.press('Enter')
  await visitor.page.getByRole('dialog', { name: 'Add a node' }).waitFor()
  await visitor.page.keyboard.type(type)
  await visitor.page.keyboard.press('Enter')
  await settle(heading)
}

test('the same flow is drawn with the keyboard alone', async () => {
  const { page } = visitor
  const { keyboard } = page
  const id = await open('by-keys')
  await put('trigger', 'Trigger')
  await tab(/^On$/)
  await keyboard.press('Enter')
  await tab(/^Kind/)
  await choose('any')
  await next('out', 'switch', 'Switch')
  await tab(/^Value/)
  await keyboard.type('{{ inp')
  await inspector('Switch').getByRole('option').first().waitFor()
  await keyboard.press('Tab') // takes the first name that is offered
  await tab(/^Id/)
  await keyboard.press('Control+A')
  await keyboard.type('list')
  await tab(/^Equals/)
  await keyboard.type('list')
  await next('list', 'loop', 'Loop')
  await tab(/^Times/)
  await keyboard.type('2')
  await next('body', 'call', 'Call a function')
  await tab(/^Function/)
  await choose('VAT')
  await tab(/^Save to/)
  await keyboard.type('total')
  await next('out', 'message', 'Message')
  await tab(/^Text/)
  await keyboard.type('Round')
  await keyboard.press('Escape')
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('data-id'))).toBe('message')
  // Arrow keys move a node; the steps of one burst are undone at once.
  const before = (await saved(id, (draft) => expect(draft.nodes.message?.config).toEqual({ text: 'Round' }))).ui?.nodes.message
  for (let n = 0; n < 4; n++) {
    await keyboard.press('ArrowRight')
    await page.waitForTimeout(60) // as fast as a key that is held down
  }
  const moved = await saved(id, (draft) => expect(draft.ui?.nodes.message?.x).toBe((before?.x ?? 0) + 20))
  expect(moved.ui?.nodes.message?.y).toBe(before?.y)
  await keyboard.press('Control+z')
  await saved(id, (draft) => expect(draft.ui?.nodes.message).toEqual(before))
  await keyboard.press('Control+Shift+Z')
  await saved(id, (draft) => expect(draft.ui?.nodes.message).toEqual(moved.ui?.nodes.message))
  // An edge between two nodes that are there, and a node that goes away again.
  await put('end', 'End')
  await saved(id, (draft) => expect(Object.keys(draft.nodes)).toContain('end'))
  await keyboard.press('Escape')
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('data-id'))).toBe('end')
  await keyboard.press('Delete')
  await saved(id, (draft) => expect(Object.keys(draft.nodes)).not.toContain('end'))
  await keyboard.press('Control+z')
  const draft = await saved(id, (draft) => expect(Object.keys(draft.nodes)).toContain('end'))
  expect(types(draft)).toEqual({ trigger: 'trigger', switch: 'switch', loop: 'loop', call: 'call', message: 'message', end: 'end' })
  expect(draft.nodes.switch).toMatchObject({ config: { value: '{{ input.text }}', cases: [{ id: 'list', equals: 'list' }] }, next: { list: 'loop' } })
  expect(draft.nodes.call).toMatchObject({ config: { function: 'vat', saveTo: 'total' }, next: { out: 'message' } })
  await page.locator('.react-flow__node[data-id="switch"]').focus()
  await keyboard.press('Enter')
  await tab(/^default/)
  await choose('end')
  await saved(id, (draft) => expect(draft.nodes.switch?.next).toEqual({ list: 'loop', default: 'end' }))
  await visitor.look('canvas-keys')
})

test('nodes are copied to another tab, taken away together, and brought back', async () => {
  const { page } = visitor
  await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const draft = {
    ...blank('copied'),
    start: 'a',
    nodes: {
      a: { type: 'trigger', config: { on: [{ kind: 'any_message' }] }, next: { out: 'b' } },
      b: { type: 'message', config: { text: 'One' }, next: { out: 'c' } },
      c: { type: 'message', config: { text: 'Two' } },
    },
  }
  const id = await open('copied', draft)
  await node('b').click()
  await page.keyboard.down('Control')
  await page.waitForTimeout(100)
  await node('c').click()
  await page.keyboard.up('Control')
  await inspector('2 nodes').waitFor()
  await page.keyboard.press('Control+c')
  await page.keyboard.press('Delete')
  await saved(id, (draft) => expect(types(draft)).toEqual({ a: 'trigger' }))
  await page.keyboard.press('Control+z')
  await saved(id, (now) => expect(now.nodes).toEqual(draft.nodes))

  const other = await server.call<Flow>(token, 'POST', '/aiflow/flow', { projectId: project, name: 'other', draft: blank('other') })
  const second = await visitor.context.newPage()
  visitor.watch(second, server)
  await second.goto(`${server.url}/panel/flows/flow/${other.id}`)
  await second.getByRole('application').click({ position: { x: 200, y: 300 } })
  await second.keyboard.press('Control+v')
  await saved(other.id, (now) => expect(now.nodes).toEqual({ b: draft.nodes.b, c: draft.nodes.c }))
  await second.keyboard.press('Control+v')
  await saved(other.id, (now) => expect(types(now)).toEqual({ b: 'message', c: 'message', b2: 'message', c2: 'message' }))
  await second.close()
})

test('a problem leads to its node and its field', async () => {
  const { page } = visitor
  await open('wrong', {
    ...blank('wrong'),
    start: 'a',
    nodes: { a: { type: 'trigger', config: { on: [{ kind: 'any_message' }] }, next: { out: 'b' } }, b: { type: 'message', config: { text: 'Hello {{ nobody }}' } } },
  })
  await node('b').getByText('errors: 1').waitFor()
  await page.getByRole('button', { name: 'problems: 1' }).click()
  await visitor.look('canvas-problems')
  await page.getByRole('listitem').getByRole('button', { name: /nobody/ }).click()
  const text = inspector('Message').getByRole('textbox', { name: 'Text' })
  await expect.poll(() => text.evaluate((box) => box === document.activeElement)).toBe(true)
  await inspector('Message').getByText(/uses "nobody"/).waitFor()
  await text.fill('Hello')
  await expect.poll(() => page.getByText(/problems: \d/).count()).toBe(0)
})

/** counting notes each time that a node is drawn, see Step. */
function counting() {
  const drawn: string[] = []
  Object.assign(window, { drawn })
  new PerformanceObserver((list) => {
    for (const entry of list.getEntriesByName('flow-node')) drawn.push((entry as PerformanceMark).detail as string)
  }).observe({ type: 'mark' })
}

/** drawn are the nodes that were drawn since it was last asked for, once the screen stands. */
function drawn(): Promise<string[]> {
  return visitor.page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame)
    await new Promise((done) => setTimeout(done, 50))
    return (window as unknown as { drawn: string[] }).drawn.splice(0)
  })
}

test('dragging one of 300 nodes renders at most 5', async () => {
  const { page } = visitor
  await page.addInitScript(counting)
  const nodes: Record<string, object> = { n0: { type: 'trigger', config: { on: [{ kind: 'any_message' }] }, next: { out: 'n1' } } }
  for (let n = 1; n < 300; n++) nodes[`n${n}`] = { type: 'message', config: { text: `Message ${n}` }, ...(n < 270 ? { next: { out: `n${n + 1 + (n % 3 === 0 ? 10 : 0)}` } } : {}) }
  const id = await open('large', { ...blank('large'), start: 'n0', nodes })
  await node('n0').waitFor()
  await expect.poll(() => page.locator('.react-flow__node').count()).toBe(300)
  expect(new Set(await drawn()).size, 'all are drawn at first').toBe(300)
  const box = await node('n0').boundingBox()
  const at = { x: (box?.x ?? 0) + 60, y: (box?.y ?? 0) + 15 }
  await page.mouse.move(at.x, at.y)
  await page.mouse.down()
  await page.mouse.move(at.x + 10, at.y + 10, { steps: 3 })
  await drawn()
  for (let step = 1; step <= 15; step++) {
    await page.mouse.move(at.x + 10 + 10 * step, at.y + 10 + 5 * step)
    const again = await drawn()
    expect(again).toContain('n0')
    expect(again.length).toBeLessThanOrEqual(5)
  }
  await page.mouse.up()
  await saved(id, (draft) => expect(Object.keys(draft.ui?.nodes ?? {})).toHaveLength(300))
  expect((await drawn()).length, 'nor does the end of it draw more').toBeLessThanOrEqual(5)
  await visitor.look('canvas-large')
})

test('it is usable on 360 pixels', async () => {
  const { page } = visitor
  await page.setViewportSize({ width: 360, height: 740 })
  const id = await open('small')
  await page.getByRole('button', { name: 'Add a node' }).click()
  await visitor.look('canvas-phone-add')
  await page.getByRole('dialog', { name: 'Add a node' }).getByRole('button', { name: 'Message' }).click()
  await inspector('Message').getByRole('textbox', { name: 'Text' }).fill('Hello')
  await saved(id, (draft) => expect(draft.nodes.message?.config).toEqual({ text: 'Hello' }))
  await visitor.fits()
  await visitor.look('canvas-phone')
})
