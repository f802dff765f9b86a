import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { api, got } from '../../api/client'
import { t } from '../../text'
import { Input } from '../../ui/field'
import { Curl, Empty, Failed, Loading } from '../../ui/parts'
import { useFilter } from '../../ui/query-state'
import { FunctionDetail } from './function'
import { type Descriptor, Policy } from './policy'


/** useFunctions are those of this server. */
export function useFunctions() {
  return useQuery({ queryKey: ['functions'], queryFn: () => got(api.GET('/service-mcp/functions')), staleTime: 60_000 })
}

/** Catalogue lists the functions, or shows one of them. */
export function Catalogue({ open }: { open: string | undefined }) {
  const [search, setSearch] = useFilter('search', true)
  const list = useFunctions()
  if (list.isPending) return <Loading />
  if (list.error && !list.data) return <Failed error={list.error} again={() => void list.refetch()} />
  const { functions, version } = list.data
  if (open !== undefined) {
    const one = functions.find((one) => one.name === open)
    return one ? <FunctionDetail key={one.name} descriptor={one} /> : <Empty title={t('functions.unknown')} action={<Link href="/functions/all">{t('functions.all')}</Link>} />
  }
  const words = search.toLowerCase().split(/\s+/)
  const found = functions.filter((one) => words.every((word) => `${one.name} ${one.title} ${one.description}`.toLowerCase().includes(word))).sort((a, b) => (a.name < b.name ? -1 : 1))
  return (
    <>
      <p className="mute">
        {t('functions.text')} <Link href="/functions/connect">{t('functions.connectDo')}</Link>
      </p>
      <Input label={t('functions.search')} type="search" value={search} onChange={(event) => setSearch(event.target.value)} />
      {found.length === 0 && <Empty title={t('functions.none')} />}
      <ul className="card rows">
        {found.map((one) => (
          <Row key={one.name} descriptor={one} />
        ))}
      </ul>
      <p className="small mute">{t('functions.version', { version, n: functions.length })}</p>
      <Curl path="/service-mcp/functions" />
    </>
  )
}

function Row({ descriptor }: { descriptor: Descriptor }) {
  const { name, title, description } = descriptor
  return (
    <li>
      <Link href={`/functions/all/${encodeURIComponent(name)}`} className="function-row" data-row>
        <span className="row spread">
          <span>
            <strong>{title}</strong> <code className="mute">{name}</code>
          </span>
          <Policy descriptor={descriptor} />
        </span>
        <span className="small mute first-sentence">{description}</span>
      </Link>
    </li>
  )
}
