import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import axe, { type RunOptions } from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core'
import { afterEach, expect } from 'vitest'

const binary = process.env.PANEL_BINARY ?? join(import.meta.dirname, '../../../bin/trunkline')
const pictures = process.env.PANEL_PICTURES ?? join(import.meta.dirname, '../../../bin/panel')

/** Server is the real program, on a folder of its own. */
export class Server {
  url = ''
  private child: ChildProcess | undefined
  readonly data = mkdtempSync(join(tmpdir(), 'panel-'))
  private readonly flags: string[]
  private readonly environ: Record<string, string>

  constructor(flags: string[] = [], environ: Record<string, string> = {}) {
    this.flags = flags
    this.environ = environ
  }

  /** start begins anew on the same data and, after the first time, the same port. */
  async start() {
    const port = this.url ? new URL(this.url).port : '0'
    this.child = spawn(binary, ['--addr', `127.0.0.1:${port}`, '--data', this.data, '--log', 'error', ...this.flags], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...this.environ },
    })
    const reference = await new Promise<string>((resolve, reject) => {
      let said = ''
      this.child?.stdout?.on('data', (part: Buffer) => {
        said += part.toString()
        if (said.includes('\n')) resolve(said)
      })
      this.child?.on('exit', (code) => reject(new Error(`the server ended with ${code}`)))
    })
    this.url = /panel (\S+)\/panel\//.exec(reference)?.[1]?.replace('localhost', '127.0.0.1') ?? ''
    expect(this.url).not.toBe('')
  }

  /** stop ends it as a crash does. */
  async stop() {
    const child = this.child
    if (!child || child.exitCode !== null) return
    const ended = new Promise((resolve) => child.on('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  async end() {
    await this.stop()
    rmSync(this.data, { recursive: true, force: true })
  }

  /** call asks the API as a program does. */
  async call<T = Record<string, unknown>>(token: string, method: string, path: string, body?: unknown): Promise<T> {
    const answer = await fetch(this.url + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    expect(answer.ok, `${method} ${path}: ${answer.status} ${text}`).toBe(true)
    return JSON.parse(text) as T
  }
}

const visitors: Visitor[] = []

afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return
  mkdirSync(pictures, { recursive: true })
  for (const [at, visitor] of visitors.entries()) await visitor.page.screenshot({ path: join(pictures, `failed-${task.name.replace(/\W+/g, '-')}-${at}.png`) }).catch(() => {})
})

const everything = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** colours are the rules that another theme may break: it changes nothing else. */
const colours = { type: 'rule' as const, values: ['color-contrast', 'link-in-text-block'] }

/** Visitor is a browser that looks at the panel, and fails when the page complains. */
export class Visitor {
  page!: Page
  context!: BrowserContext
  readonly complaints: string[] = []
  /** Errors that a test brings about on purpose. */
  readonly expected: RegExp[] = []
  private browser!: Browser
  private readonly asked = new Set<Request>()
  private changed = 0 // when a request last began or ended

  private constructor() {}

  static async open(server: Server, size = { width: 1280, height: 800 }): Promise<Visitor> {
    const v = new Visitor()
    v.browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] })
    v.context = await v.browser.newContext({ viewport: size, locale: 'en-GB', colorScheme: 'light', reducedMotion: 'reduce' })
    v.page = await v.context.newPage()
    v.watch(v.page, server)
    visitors.push(v)
    return v
  }

  /** watch notes errors of the console, refusals of the policy and requests to others. */
  watch(page: Page, server: Server) {
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.complaints.push(`console: ${message.text()} ${message.location().url}`)
    })
    page.on('pageerror', (error) => this.complaints.push(`error: ${error.message}`))
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(server.url) && !/^(data|blob):/.test(url)) this.complaints.push(`foreign request: ${url}`)
      if (url.includes('/chats/stream')) return // it does not end
      this.asked.add(request)
      this.changed = Date.now()
    })
    for (const end of ['requestfinished', 'requestfailed'] as const) {
      page.on(end as 'requestfinished', (request) => {
        this.asked.delete(request)
        this.changed = Date.now()
      })
    }
  }

  /** quiet waits until the page has all that it asked for, and asks for no more: what follows news comes 200 ms later. */
  async quiet() {
    await expect.poll(() => this.asked.size === 0 && Date.now() - this.changed > 500).toBe(true)
  }

  async signUp(server: Server): Promise<string> {
    this.expected.push(/401 \(Unauthorized\)/)
    await this.page.goto(`${server.url}/panel/`)
    await this.page.getByRole('button', { name: 'Sign up' }).first().click()
    await this.page.getByLabel('Your name').fill('Ana')
    await this.page.getByLabel('E-mail').fill('ana@example.com')
    await this.page.getByLabel('Password').fill('correct horse battery')
    await this.page.locator('form').getByRole('button', { name: 'Sign up' }).click()
    await this.page.getByRole('heading', { name: 'Welcome to Trunkline' }).waitFor()
    const answer = await fetch(`${server.url}/user/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: 'ana@example.com', password: 'correct horse battery' }),
    })
    return ((await answer.json()) as { token: string }).token
  }

  /** look takes a picture of the screen and has it checked, in both themes. */
  async look(name: string) {
    mkdirSync(pictures, { recursive: true })
    for (const theme of ['light', 'dark'] as const) {
      await this.page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await this.page.screenshot({ path: join(pictures, `${name}-${theme}.png`) })
      await expect.poll(() => this.faults(theme === 'light' ? everything : colours), { message: `${name}, ${theme}`, interval: 500 }).toEqual([])
    }
    await this.page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  }

  /** faults are what is not accessible on the screen (WCAG 2.2 AA). */
  async faults(runOnly: RunOptions['runOnly'] = everything): Promise<string[]> {
    if (!(await this.page.evaluate(() => 'axe' in window))) await this.page.evaluate(axe.source)
    return this.page.evaluate(async (options) => {
      const run = (window as unknown as { axe: typeof axe }).axe
      const result = await run.run(document, options)
      return result.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 160)).join(' ')}`)
    }, { runOnly, resultTypes: ['violations'] } as RunOptions)
  }

  /** fits fails when the page must be moved sideways. */
  async fits() {
    await expect.poll(() => this.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
  }

  /** end closes the browser, and the server; nothing may have complained. */
  async end(server: Server) {
    await this.browser.close()
    await server.end()
    expect(this.complaints.filter((text) => !this.expected.some((e) => e.test(text)))).toEqual([])
  }
}
