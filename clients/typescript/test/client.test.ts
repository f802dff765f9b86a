// Tests of the client against a server, whose address is in TRUNKLINE_URL. A Go test
// of server/cmd/trunkline starts both.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { IncomingHttpHeaders, Server } from 'node:http'
import { Trunkline, TrunklineError, verifyWebhook, WebhookVerificationError } from '@trunklinehq/client'
import { front, Queue, serve, type Front } from './front.ts'

const backend = process.env.TRUNKLINE_URL ?? ''
const closing: (() => void)[] = []
let api: Trunkline
let token: string
let proxy: Front
let reference: number

before(async () => {
  proxy = await front(backend)
  closing.push(() => proxy.close())
  const session = await new Trunkline({ baseUrl: backend }).post('/user/signup', {
    body: { name: 'Ana', email: 'typescript@example.org', password: 'correct horse' },
  })
  assert.ok('token' in session)
  token = session.token
  api = new Trunkline({ baseUrl: `${backend}/`, token })
  reference = (await api.post('/reference', { body: { name: 'Shop', type: 'provider-sandbox' } })).id
})

after(() => closing.forEach((close) => close()))

/** A client behind the proxy that does not wait long. */
function behind(): Trunkline {
  return new Trunkline({ baseUrl: proxy.url, token, pause: 1 })
}

function write(from: string, text: string) {
  return api.post('/sandbox/{reference}/messages', { path: { reference }, body: { from, type: 'text', text } })
}

function text(chatId: string, text: string) {
  return { reference, chatId, message: { type: 'text' as const, text } }
}

/** The texts of a chat, the newest first, a page for each. */
async function texts(chatId: string): Promise<string[]> {
  const out: string[] = []
  for await (const m of api.all('/chats/messages', { query: { reference, chatId, limit: 1 } })) out.push(m.type === 'text' ? m.text : m.type)
  return out
}

test('a refusal says what is wrong', async () => {
  const wrong = await caught(api.post('/reference', { body: { name: '', type: 'provider-sandbox' } }))
  assert.equal(wrong.status, 422)
  assert.equal(wrong.code, 'validation')
  assert.equal(wrong.fields[0]?.location, 'body.name')
  assert.match(wrong.message, /body\.name/)
  assert.notEqual(wrong.requestId, '')
  const stranger = await caught(new Trunkline({ baseUrl: backend, token: 'x' }).get('/reference/list'))
  assert.deepEqual([stranger.status, stranger.code], [401, 'unauthorized'])
  await assert.rejects(api.get('/bot/{botId}', { path: { botId: '..' } }), TypeError)
})

test('a list has pages', async () => {
  for (const word of ['one', 'two', 'three']) await api.send(text('pages', word))
  assert.deepEqual(await texts('pages'), ['three', 'two', 'one'])
})

test('a key sends once', async () => {
  const first = await api.send(text('key', 'Hello'), { idempotencyKey: 'k1' })
  const again = await api.send(text('key', 'Hello'), { idempotencyKey: 'k1' })
  assert.equal(again.id, first.id)
  assert.equal((await caught(api.send(text('key', 'Bye'), { idempotencyKey: 'k1' }))).code, 'conflict')
  assert.deepEqual(await texts('key'), ['Hello'])
})

test('a file is sent by its id', async () => {
  const body = new FormData()
  body.set('reference', String(reference))
  body.set('file', new Blob(['Prices'], { type: 'text/plain' }), 'prices ä.txt')
  const { mediaId } = await api.post('/media', { body })
  const sent = await api.send({ reference, chatId: 'file', message: { type: 'document', mediaId } })
  assert.equal(sent.type === 'document' && sent.fileName, 'prices ä.txt')
})

test('only what is safe is repeated', async () => {
  // The server answers, and the connection breaks.
  const lost: Front['faults'][0] = (req, res, pass) => {
    res.write = () => res.destroy() && false
    pass()
  }
  proxy.faults.push(lost, lost)
  await behind().send(text('lost', 'Once'))
  assert.equal(proxy.seen.filter((s) => s === 'POST /chats/send').length, 3)
  assert.deepEqual(await texts('lost'), ['Once'])

  proxy.faults.push(lost)
  await behind().get('/reference/list')

  const away: Front['faults'][0] = (_, res) => void res.writeHead(503).end()
  proxy.faults.push(away)
  await behind().get('/reference/list')

  for (const fault of [lost, away]) {
    proxy.seen.length = 0
    proxy.faults.push(fault)
    await assert.rejects(behind().post('/reference', { body: { name: 'Twice', type: 'provider-sandbox' } }))
    assert.deepEqual(proxy.seen, ['POST /reference'])
  }
  const busy: Front['faults'][0] = (_, res) => void res.writeHead(429).end()
  proxy.faults.push(busy)
  await behind().post('/reference', { body: { name: 'Third', type: 'provider-sandbox' } })
})

test('a stream continues after a cut', async () => {
  const opened = new Queue<void>()
  const stop = new AbortController()
  const events = behind().stream({ reference, onOpen: () => opened.add(), signal: stop.signal })
  const words = new Queue<string>()
  const done = (async () => {
    for await (const event of events) if (event.type === 'message' && event.data.type === 'text') words.add(event.data.text)
  })()
  await opened.next()
  proxy.down() // before the first event
  await write('stream', 'one')
  proxy.up()
  await opened.next()
  assert.equal(await words.next(), 'one')
  proxy.down()
  await write('stream', 'two')
  await write('stream', 'three')
  proxy.up()
  assert.equal(await words.next(), 'two')
  assert.equal(await words.next(), 'three')
  await opened.next()
  stop.abort()
  await done

  const refused = new Trunkline({ baseUrl: backend, token: 'x' }).stream()
  assert.equal((await caught(refused.next())).status, 401)
})

test('a webhook is verified', async (t) => {
  const received = new Queue<{ headers: IncomingHttpHeaders; body: Buffer }>()
  const receiver = await receive(received)
  const hook = { body: { reference, webhook: receiver.url, events: ['message'] } }
  const made = await api.post('/references/registerWebHook', hook)
  assert.ok('secret' in made && made.secret)
  const old = made.secret
  await write('hook', 'Is 5 € enough?')
  const { headers, body } = await received.next()
  const event = await verifyWebhook(headers, body, old)
  assert.equal(event.type, 'message')
  assert.equal(event.id, headers['webhook-id'])
  assert.equal(event.data.chatId, 'hook@sandbox')
  assert.equal(event.data.type === 'text' && event.data.text, 'Is 5 € enough?')
  assert.deepEqual(await verifyWebhook(new Headers(headers as Record<string, string>), body.toString(), old), event)

  const other = 'whsec_' + Buffer.alloc(32).toString('base64')
  const refused: [IncomingHttpHeaders, string, string][] = [
    [headers, body.toString() + ' ', old],
    [headers, body.toString(), other],
    [{ ...headers, 'webhook-id': 'another' }, body.toString(), old],
    [{ ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) }, body.toString(), old],
    [{ ...headers, 'webhook-timestamp': '' }, body.toString(), old],
    [{ ...headers, 'webhook-signature': 'v1,?' }, body.toString(), old],
    [{ ...headers, 'webhook-signature': String(headers['webhook-signature']).replace('v1,', 'v2,') }, body.toString(), old],
    [{ ...headers, 'webhook-signature': '' }, body.toString(), old],
  ]
  for (const [i, [h, b, secret]] of refused.entries()) await assert.rejects(verifyWebhook(h, b, secret), WebhookVerificationError, `case ${i}`)
  const now = Date.now()
  for (const seconds of [-302, 302]) {
    t.mock.timers.enable({ apis: ['Date'], now: now + seconds * 1000 })
    await assert.rejects(verifyWebhook(headers, body, old), WebhookVerificationError)
    assert.ok(await verifyWebhook(headers, body, old, { tolerance: 600 }))
    t.mock.timers.reset()
  }

  const changed = await api.patch('/references/hookconf/{endpointId}', { path: { endpointId: made.endpointId }, body: { rotateSecret: true } })
  assert.ok(changed.secret && changed.secret !== old)
  await write('hook', 'Again')
  const next = await received.next()
  assert.equal(String(next.headers['webhook-signature']).split(' ').length, 2)
  for (const secret of [old, changed.secret]) assert.notEqual((await verifyWebhook(next.headers, next.body, secret)).id, event.id)
})

async function receive(into: Queue<{ headers: IncomingHttpHeaders; body: Buffer }>): Promise<{ server: Server; url: string }> {
  const receiver = await serve(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    res.writeHead(204).end()
    into.add({ headers: req.headers, body: Buffer.concat(chunks) })
  })
  closing.push(() => receiver.server.close().closeAllConnections())
  return receiver
}

/** The error of a request that must be refused. */
async function caught(request: Promise<unknown>): Promise<TrunklineError> {
  try {
    await request
  } catch (error) {
    assert.ok(error instanceof TrunklineError, String(error))
    return error
  }
  throw new Error('the request was not refused')
}

/** What the compiler must refuse. It is not called. */
export async function refusedByTypes() {
  // @ts-expect-error: there is no such path
  await api.get('/nowhere')
  // @ts-expect-error: the path has no such method
  await api.put('/chats/send', { body: text('a', 'b') })
  // @ts-expect-error: the body is required
  await api.post('/reference')
  // @ts-expect-error: the parameter of the path is required
  await api.get('/bot/{botId}')
  // @ts-expect-error: a member has another type
  await api.send({ ...text('a', 'b'), reference: 'one' })
  // @ts-expect-error: the list has no pages
  for await (const _ of api.all('/account')) return
}
