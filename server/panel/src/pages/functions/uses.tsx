import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { api, got } from '../../api/client'
import type { Page } from '../../api/query'
import { useMay } from '../../session'
import { t } from '../../text'
import { Failed, Loading } from '../../ui/parts'

/** Wanted says whether a part of a flow uses what is looked for. */
export type Wanted = (part: Record<string, unknown>) => boolean

/** mentions looks for a part of a document, however deep. */
export function mentions(document: unknown, wanted: Wanted): boolean {
  if (Array.isArray(document)) return document.some((one) => mentions(one, wanted))
  if (typeof document !== 'object' || document === null) return false
  return wanted(document as Record<string, unknown>) || Object.values(document).some((one) => mentions(one, wanted))
}

async function all<T>(read: (cursor: string | undefined) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await read(cursor)
    items.push(...page.items)
    if (!page.next) return items
    cursor = page.next
  }
}

const asked = (cursor: string | undefined) => ({ params: { query: { limit: 200, ...(cursor ? { cursor } : {}) } } })

/** Uses lists the flows and bots that name a thing, and the servers that do. */
export function Uses({ id, wanted, credential }: { id: string; wanted: Wanted; credential?: boolean }) {
  const bots = useMay('bots.manage')
  const found = useQuery({
    queryKey: ['uses', id],
    queryFn: async () => {
      const flows = await all((cursor) => got(api.GET('/aiflow/flow/list', asked(cursor))))
      const own = bots ? await all((cursor) => got(api.GET('/bot/list', asked(cursor)))) : []
      const servers = credential ? await all((cursor) => got(api.GET('/aiflow/server', asked(cursor)))) : []
      return [
        ...servers.filter((one) => one.credential === id).map((one) => ({ href: `/functions/servers/${one.id}`, name: one.name, kind: t('uses.server') })),
        ...flows.filter((one) => mentions(one.draft, wanted)).map((one) => ({ href: `/flows/flow/${one.id}`, name: one.name, kind: t('uses.flow') })),
        ...own.filter((one) => mentions(one.flow, wanted)).map((one) => ({ href: `/flows/bot/${one.id}`, name: one.name, kind: t('uses.bot') })),
      ]
    },
    staleTime: 0,
  })
  if (found.isPending) return <Loading />
  if (found.error && !found.data) return <Failed error={found.error} again={() => void found.refetch()} />
  if (found.data.length === 0) return <p className="mute">{t('uses.none')}</p>
  return (
    <div>
      <p>{t('uses.title')}</p>
      <ul className="uses">
        {found.data.map((one) => (
          <li key={one.href}>
            <span className="mute">{one.kind}</span>{' '}
            <Link href={one.href} dir="auto">
              {one.name}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}
