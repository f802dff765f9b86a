import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const binary = process.env.PANEL_PHONES ?? join(import.meta.dirname, '../../../bin/phones')

interface Answer {
  environ?: string[]
  phone?: string
  signed?: string
  error?: string
}

/** Phones are a fake WhatsApp Web with phones that link what the panel shows (see cmd/phones). */
export class Phones {
  /** Settings that point a server at them. */
  environ: Record<string, string> = {}
  private child!: ChildProcess
  private answers!: AsyncIterableIterator<string>

  async start() {
    this.child = spawn(binary, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.answers = createInterface({ input: this.child.stdout! })[Symbol.asyncIterator]()
    for (const setting of (await this.next()).environ ?? []) {
      const at = setting.indexOf('=')
      this.environ[setting.slice(0, at)] = setting.slice(at + 1)
    }
  }

  end() {
    this.child.stdin?.end()
  }

  /** add makes a phone, and returns its number. */
  async add(name: string, passkey = false): Promise<string> {
    return (await this.tell({ do: 'phone', name, passkey })).phone ?? ''
  }

  /** tell has a phone do something, which must come to pass. */
  async tell(order: { do: 'phone' | 'scan' | 'sign' | 'type' | 'write' | 'vote' | 'unlink'; phone?: string; name?: string; passkey?: boolean; code?: string; text?: string; to?: string }): Promise<Answer> {
    this.child.stdin?.write(`${JSON.stringify(order)}\n`)
    const answer = await this.next()
    if (answer.error) throw new Error(`${order.do}: ${answer.error}`)
    return answer
  }

  private async next(): Promise<Answer> {
    const { value, done } = await this.answers.next()
    if (done) throw new Error('the phones have gone')
    return JSON.parse(value) as Answer
  }
}
