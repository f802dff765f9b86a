import { createServer, type Server as Listener } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

let mails: Listener
let server: Server
let visitor: Visitor
let sent = ''

beforeAll(async () => {
  mails = createServer((socket) => {
    let said = ''
    let text = false
    socket.write('220 walk\r\n')
    socket.on('data', (part: Buffer) => {
      said += part.toString()
      for (;;) {
        const end = said.indexOf('\r\n')
        if (end < 0) return
        const reference = said.slice(0, end)
        said = said.slice(end + 2)
        if (text && reference !== '.') sent += `${reference}\n`
        else if (text) text = false
        else if (reference === 'DATA') text = true
        if (reference === '.' || !text) socket.write(reference === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n')
        else if (reference === 'DATA') socket.write('354 go on\r\n')
      }
    })
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => mails.listen(0, '127.0.0.1', resolve))
  const { port } = mails.address() as { port: number }
  server = new Server(['--smtp-url', `smtp://127.0.0.1:${port}?from=chat@example.org`])
  await server.start()
  visitor = await Visitor.open(server)
  await visitor.signUp(server)
})

afterAll(async () => {
  await visitor.end(server)
  mails.close()
})

test('the second sign-up waits for the link of a mail', async () => {
  const { page } = visitor
  await visitor.context.clearCookies()
  await page.goto(`${server.url}/panel/`)
  await page.getByRole('button', { name: 'Sign up' }).first().click()
  await page.getByLabel('Your name').fill('Ben')
  await page.getByLabel('E-mail').fill('ben@example.com')
  await page.getByLabel('Password').fill('battery staple')
  await page.locator('form').getByRole('button', { name: 'Sign up' }).click()
  await page.getByText('We have sent you a mail.').waitFor()
  await visitor.look('signup-sent')
})

test('the link asks for the password of the sign-up, and works once', async () => {
  const { page } = visitor
  visitor.expected.push(/422 \(Unprocessable Entity\)/)
  const link = () => /panel\/confirm#([\w-]+)/.exec(sent.replaceAll('=\n', ''))?.[1]
  await expect.poll(link, { timeout: 20_000 }).toBeTruthy()
  const open = async (password: string) => {
    await page.goto('about:blank')
    await page.goto(`${server.url}/panel/confirm#${link()}`)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign up' }).click()
  }
  await open('not that one')
  await page.getByText('is not the password of the sign-up').waitFor()
  await visitor.look('signup-confirm')
  await open('battery staple')
  await page.getByRole('heading', { name: 'Welcome to Trunkline' }).waitFor()
  await visitor.context.clearCookies()
  await open('battery staple')
  await page.getByText('Sign up again.').waitFor()
})
