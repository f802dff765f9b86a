import { createServer, request, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** A proxy between the client and the server, which a test can break. */
export interface Front {
  url: string
  /** Requests that came, such as "POST /chats/send". */
  seen: string[]
  /** The next requests are handled by these, one each. */
  faults: ((req: IncomingMessage, res: ServerResponse, pass: () => void) => void)[]
  /** Breaks all connections and refuses new ones until up is called. */
  down(): void
  up(): void
  close(): void
}

/** A server on a free port, with its address. */
export async function serve(handler: RequestListener) {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

export async function front(backend: string): Promise<Front> {
  const sockets = new Set<Socket>()
  let refuse = false
  const { server, url } = await serve((req, res) => {
    out.seen.push(`${req.method} ${req.url}`)
    const pass = () => {
      const on = request(backend + req.url, { method: req.method, headers: req.headers }, (answer) => {
        res.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(res)
        answer.on('error', () => res.destroy())
      })
      on.on('error', () => res.destroy())
      res.on('close', () => on.destroy())
      req.pipe(on)
    }
    const fault = out.faults.shift()
    if (fault) fault(req, res, pass)
    else pass()
  })
  server.on('connection', (socket) => {
    if (refuse) socket.destroy()
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  const out: Front = {
    url,
    seen: [],
    faults: [],
    down() {
      refuse = true
      for (const socket of sockets) socket.destroy()
    },
    up() {
      refuse = false
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  return out
}

/** A queue of values, which waits for the next one. */
export class Queue<T> {
  #values: T[] = []
  #waiting: ((value: T) => void)[] = []

  add(value: T) {
    const next = this.#waiting.shift()
    if (next) next(value)
    else this.#values.push(value)
  }

  next(): Promise<T> {
    if (this.#values.length > 0) return Promise.resolve(this.#values.shift() as T)
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
