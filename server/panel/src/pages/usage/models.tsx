import { useQuery } from '@tanstack/react-query'
import { api, got } from '../../api/client'
import { t } from '../../text'
import { Badge, Copy, Curl, Failed, Loading, Notice } from '../../ui/parts'

/** Models are those that flows may name, by who has them. */
export function Models() {
  const list = useQuery({ queryKey: ['models'], queryFn: () => got(api.GET('/aiflow/model')) })
  if (list.isPending) return <Loading />
  if (list.error && !list.data) return <Failed error={list.error} again={() => void list.refetch()} />
  return (
    <>
      <p className="mute">{t('usage.modelsText')}</p>
      {list.data.providers.map((provider) => (
        <section key={provider.name} className="card stack" aria-label={provider.name}>
          <div className="row">
            <h2>{provider.name}</h2>
            <Badge tone={provider.error ? 'warn' : 'ok'}>{provider.error ? t('usage.unreachable') : t('usage.reachable')}</Badge>
          </div>
          {provider.error && <Notice tone="warn">{provider.error.message}</Notice>}
          <ul className="models">
            {list.data.items
              .filter((model) => model.provider === provider.name)
              .map((model) => (
                <li key={model.id} className="row">
                  <code>{model.id}</code>
                  {model.title && <span className="mute">{model.title}</span>}
                  <Copy text={model.id} />
                </li>
              ))}
          </ul>
        </section>
      ))}
      <Curl path="/aiflow/model" />
    </>
  )
}
