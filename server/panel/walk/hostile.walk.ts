import { createServer, type Server as Listener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Graph } from './graph'
import { Server, Visitor } from './world'

/** evil is what strangers may write wherever a name or a text goes: markup, scripts, marks that turn lines around, marks of no width. */
const evil = '<img src=x onerror="owned=1"><script>owned=2</script>\u202Egnp.exe\u2066\u200B\u2028<svg onload="owned=3">'
const seen = '<img src=x onerror="owned=1">'
const texts = [
  evil,
  'javascript:owned=4 [x](javascript:owned=5) data:text/html,<script>owned=6</script> https://example.com/"onmouseover="owned=7',
  'w'.repeat(64 * 1024 - 1),
  '👩‍👩‍👧‍👦'.repeat(1_500),
  'Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́'.repeat(40),
  '\u202E\u2067\u061C'.repeat(200),
]
const page404 = `<!doctype html>${evil}<meta http-equiv="refresh" content="0;url=//example.com">`

const graph = new Graph()
let hook: Listener
let server: Server
let visitor: Visitor
let token: string
let reference: number

beforeAll(async () => {
  await graph.start()
  graph.put({ name: 'evil', language: 'en', category: 'UTILITY', status: 'APPROVED', components: [{ type: 'BODY', text: evil }, { type: 'FOOTER', text: evil.slice(0, 60) }, { type: 'BUTTONS', buttons: [{ type: 'URL', text: seen.slice(0, 25), url: 'javascript:owned=8' }] }] })
  hook = createServer((_, response) => response.writeHead(404, { 'Content-Type': 'text/html', 'X-Evil': '<script>owned=9</script>' }).end(page404))
  await new Promise<void>((ready) => hook.listen(0, '127.0.0.1', ready))
  server = new Server(['--graph-url', graph.url, '--webhook-allow', '127.0.0.1/32'])
  await server.start()
  visitor = await Visitor.open(server)
  token = await visitor.signUp(server)
})

afterAll(async () => {
  await visitor.end(server)
  hook.closeAllConnections()
  hook.close()
  graph.end()
})

const call = <T = { id: string }>(method: string, path: string, body?: unknown) => server.call<T>(token, method, path, body)
const write = (content: object, from = 'eve') => call<{ messageId: string }>('POST', `/sandbox/${reference}/messages`, { from, name: evil, ...content })

/** upload keeps a file of the reference, and returns its id. */
async function upload(name: string, type: string, bytes: string): Promise<string> {
  const form = new FormData()
  form.set('reference', String(reference))
  form.set('file', new Blob([bytes], { type }), name)
  const answer = await fetch(`${server.url}/media`, { method: 'POST', headers: { Authorization: `Bearer ${token}` }, body: form })
  expect(answer.ok, await answer.clone().text()).toBe(true)
  return ((await answer.json()) as { mediaId: string }).mediaId
}

/** sound fails when something on the screen is more than text, or moves what stands beside it. */
async function sound(place: string) {
  const found = await visitor.page.evaluate(() => {
    const out: string[] = []
    if ('owned' in window) out.push('a script ran')
    if (document.title !== 'Trunkline') out.push('the title was changed')
    for (const element of document.querySelectorAll('#app script, #app iframe, #app object, #app embed, #app meta, #app [onerror], #app [onload], #app [onmouseover], #app img[src="x"]')) out.push(element.outerHTML.slice(0, 80))
    for (const link of document.querySelectorAll<HTMLAnchorElement>('#app a[href]')) if (!['http:', 'https:', 'blob:'].includes(link.protocol)) out.push(link.href.slice(0, 80))
    // Marks that turn a line around must end with the element that holds them.
    const walker = document.createTreeWalker(document.getElementById('app')!, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const text = walker.currentNode.textContent ?? ''
      if (!/[\u202A-\u202E\u2066-\u2069]/.test(text)) continue
      let at = walker.currentNode.parentElement
      const alone = (e: Element) => e.textContent?.trim() === text.trim()
      while (at && !/isolate|plaintext/.test(getComputedStyle(at).unicodeBidi) && !(getComputedStyle(at).display !== 'inline' && alone(at))) at = alone(at) ? at.parentElement : null
      if (!at) out.push(`not isolated: ${walker.currentNode.parentElement?.outerHTML.slice(0, 120)}`)
    }
    return out
  })
  expect(found, place).toEqual([])
  await visitor.fits()
}

/** visit opens a page and checks it once it shows what is hostile. */
async function visit(path: string, shows = seen) {
  await visitor.page.goto(`${server.url}/panel/${path}`)
  await visitor.page.getByText(shows).filter({ visible: true }).first().waitFor()
  await sound(path)
}

test('a conversation is text', async () => {
  const { page } = visitor
  reference = (await call<{ id: number }>('POST', '/reference', { name: evil, type: 'provider-sandbox' })).id
  await call('POST', '/extractor', { name: evil, kind: 'regex', scope: { reference }, config: { pattern: '(?P<found>(?s).{1,200})' } })
  for (const text of texts) await write({ type: 'text', text })
  await write({ type: 'document', mediaId: await upload(`${evil}.svg`, 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"><script>owned=10</script></svg>'), fileName: `${evil}.svg`, caption: evil })
  await write({ type: 'document', mediaId: await upload('page.html', 'text/html', '<!doctype html><script>owned=11</script>'), fileName: `page.html` })
  await write({ type: 'location', latitude: 1, longitude: 1, address: evil })
  await call('PATCH', '/chats', { reference, chatId: 'eve@sandbox', tags: [evil.slice(0, 40)], variables: { evil }, fields: { evil: [evil, { [seen]: evil }] } })
  await visit(`inbox/${reference}/${encodeURIComponent('eve@sandbox')}`)
  for (const summary of await page.locator('.side summary').all()) await summary.click()
  await page.getByRole('button', { name: 'What happened?' }).last().click()
  await page.getByRole('dialog').getByText('stored').first().waitFor()
  await sound('what happened')
  await page.keyboard.press('Escape')
  await page.getByRole('region', { name: 'Messages' }).evaluate((box) => (box.scrollTop = 0))
  await page.getByText('wwww').first().waitFor()
  await sound('the beginning')
  await visitor.look('hostile-inbox')
})

test('files that could run are saved, not opened', async () => {
  const { page } = visitor
  await page.goto(`${server.url}/panel/inbox/${reference}/${encodeURIComponent('eve@sandbox')}`)
  const thread = page.getByRole('region', { name: 'Messages' })
  await thread.getByRole('link', { name: 'page.html' }).waitFor()
  await expect.poll(() => thread.locator('a[download]').count()).toBeGreaterThanOrEqual(2)
  const links = await thread.locator('a[download]').evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href))
  for (const link of links) {
    const answer = await visitor.context.request.get(link)
    expect(answer.headers()['content-disposition'], link).toMatch(/^attachment/)
    expect(answer.headers()['content-security-policy'], link).toContain('sandbox')
    expect(answer.headers()['x-content-type-options'], link).toBe('nosniff')
    const tab = await visitor.context.newPage()
    const download = tab.waitForEvent('download')
    await tab.goto(link).catch(() => undefined) // it becomes a download
    await download
    expect(tab.url()).toBe('about:blank')
    await tab.close()
  }
})

test('names, answers and values are text on every page', async () => {
  const { page } = visitor
  const address = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`
  await call('POST', '/references/hookconf', { id: reference, webhook: `${address}?${encodeURIComponent(evil)}` })
  const project = await call('POST', '/aiflow/project', { name: evil, description: evil })
  const draft = {
    format: 'trunkline-flow/1',
    kind: 'flow',
    name: evil,
    slug: 'evil',
    start: 'start',
    variables: { said: { type: 'string' } },
    nodes: {
      start: { type: 'trigger', config: { on: [{ kind: 'any_message' }] }, next: { out: 'keep' } },
      keep: { type: 'set', name: evil.slice(0, 60), config: { assign: [{ var: 'said', value: evil.replaceAll('{', '') }] }, next: { out: 'say' } },
      say: { type: 'message', config: { text: '{{ vars.said }}' }, next: { out: 'wait' } },
      wait: { type: 'wait', config: { event: 'paid' }, next: { out: 'end' } },
      end: { type: 'end' },
    },
  }
  const flow = await call('POST', '/aiflow/flow', { projectId: project.id, name: evil, draft })
  await call('POST', `/aiflow/flow/${flow.id}/publish`)
  const run = await call('POST', '/aiflow/run', { flowId: flow.id, chatId: 'eve@sandbox', reference, input: { evil } })
  const cloud = await call<{ id: number }>('POST', '/reference', { name: evil, type: 'provider-cloud', settings: { phoneNumberId: '1', businessAccountId: '2', accessToken: 'token-of-1', appSecret: 'secret-of-1', verifyToken: 'verify-of-1' } })
  await call('POST', '/user/token', { name: evil.slice(0, 60), permissions: ['chats.read'], expiresAt: Math.floor(Date.now() / 1000) + 86_400 })
  await write({ type: 'text', text: evil }, 'mallory')

  await visit('')
  await visit('references')
  await visit(`references/${reference}`)
  await visit('flows')
  await visit(`flows/flow/${flow.id}`)
  await visitor.look('hostile-flow')
  await visit('runs')
  await visit(`runs/flow/${run.id}`, 'Steps')
  await page.locator('main details').evaluateAll((all) => all.forEach((one) => ((one as HTMLDetailsElement).open = true)))
  await page.getByText('<img src=x').filter({ visible: true }).first().waitFor()
  await sound('the steps of a run')
  await visitor.look('hostile-run')
  await visit('extractors')
  await visit(`templates/${cloud.id}`, 'evil')
  await visit('settings?part=tokens')
  await visit(`webhooks/${reference}`, '127.0.0.1')
  const delivery = page.locator('.delivery', { hasText: /message.*mallory/s })
  await delivery.locator('summary').click()
  await delivery.getByText('404').first().waitFor()
  await page.getByText(seen).filter({ visible: true }).first().waitFor()
  await sound('an attempt')
  await visitor.look('hostile-webhook')
})
