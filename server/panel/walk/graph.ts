import { createServer, type IncomingMessage, type Server as Listener } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Template {
  id: string
  name: string
  language: string
  category: string
  status: string
  components: unknown[]
  parameter_format?: string
  rejected_reason?: string
  quality_score?: { score: string }
}

/** Graph stands for Meta's Graph API, as far as references with templates ask it. */
export class Graph {
  url = ''
  templates: Template[] = []
  private listener: Listener | undefined
  private sent = 0

  async start() {
    this.listener = createServer((request, response) => {
      void body(request).then((text) => {
        const answer = this.answer(request.method ?? '', new URL(request.url ?? '', this.url), text)
        response.writeHead('error' in answer ? 400 : 200, { 'Content-Type': 'application/json' })
        response.end(JSON.stringify(answer))
      })
    })
    await new Promise<void>((ready) => this.listener?.listen(0, '127.0.0.1', ready))
    this.url = `http://127.0.0.1:${(this.listener.address() as AddressInfo).port}`
  }

  end() {
    this.listener?.closeAllConnections()
    this.listener?.close()
  }

  /** put keeps a template as if it had been written elsewhere. */
  put(template: Omit<Template, 'id'>) {
    this.templates.push({ id: String(900_000_000 + this.templates.length), rejected_reason: 'NONE', ...template })
  }

  private answer(method: string, url: URL, text: string): object {
    const edge = url.pathname.split('/')[3] ?? ''
    if (url.pathname.endsWith('/debug_token')) return { data: { app_id: '1', type: 'SYSTEM_USER', is_valid: true, expires_at: 0, scopes: ['whatsapp_business_management', 'whatsapp_business_messaging'] } }
    if (edge === 'messages') return { messaging_product: 'whatsapp', messages: [{ id: `wamid.${++this.sent}` }] }
    if (edge !== 'message_templates') return method === 'GET' ? { id: url.pathname.split('/')[2], display_phone_number: '+351 21 000 0000', verified_name: 'Shop', quality_rating: 'GREEN', status: 'CONNECTED', data: [] } : { success: true }
    const name = url.searchParams.get('name')
    switch (method) {
      case 'GET':
        return { data: this.templates.filter((one) => !name || one.name.includes(name)), paging: {} }
      case 'DELETE':
        this.templates = this.templates.filter((one) => one.name !== name || (url.searchParams.has('hsm_id') && one.id !== url.searchParams.get('hsm_id')))
        return { success: true }
      default: {
        const asked = JSON.parse(text) as Omit<Template, 'id' | 'status'>
        if (this.templates.some((one) => one.name === asked.name && one.language === asked.language)) {
          return { error: { message: 'Invalid parameter', type: 'OAuthException', code: 100, error_subcode: 2388024, error_user_title: 'Content in this language already exists', error_user_msg: 'There is already content in this language for this template.' } }
        }
        this.put({ ...asked, status: 'PENDING' })
        return { id: this.templates.at(-1)?.id, status: 'PENDING', category: asked.category }
      }
    }
  }
}

async function body(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}
