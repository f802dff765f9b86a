/**
 * What a tab does for all others, or holds alone, is known by a lock that it
 * lets go of when it is closed. A page that came over plain http has no locks:
 * there its tabs ask each other.
 */
interface Hold {
  /** begun ends when others can see it. */
  begun: Promise<void>
  end: () => void
}

const locks: LockManager | undefined = navigator.locks
const place = 'trunkline-alive'
const answers = 200 // ms in which a tab answers

/** hold has the other tabs know that this one holds something. */
export function hold(name: string): Hold {
  if (!locks) {
    const channel = new BroadcastChannel(place)
    channel.onmessage = (event: MessageEvent<{ ask?: true }>) => event.data.ask && channel.postMessage({ holds: name })
    return { begun: Promise.resolve(), end: () => channel.close() }
  }
  const ended = new AbortController()
  const begun = new Promise<void>((ready) => {
    void locks
      .request(name, { signal: ended.signal }, () => {
        ready()
        return new Promise<void>((done) => ended.signal.addEventListener('abort', () => done()))
      })
      .catch(() => ready())
  })
  return { begun, end: () => ended.abort() }
}

/** held is what the tabs hold now. */
export async function held(): Promise<Set<string | undefined>> {
  if (locks) return new Set((await locks.query()).held?.map((lock) => lock.name))
  const channel = new BroadcastChannel(place)
  const found = new Set<string | undefined>()
  channel.onmessage = (event: MessageEvent<{ holds?: string }>) => found.add(event.data.holds)
  channel.postMessage({ ask: true })
  await new Promise((done) => setTimeout(done, answers))
  channel.close()
  return found
}

/** fresh is an id that nothing else has; randomUUID is only there over https. */
export function fresh(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
