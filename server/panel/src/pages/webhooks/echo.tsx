import { useQuery } from '@tanstack/react-query'
import { api, got } from '../../api/client'
import { t, time } from '../../text'

/** Echo shows what the built-in receiver was sent. */
export function Echo({ reference }: { reference: number }) {
  const list = useQuery({ queryKey: ['echo', reference], queryFn: () => got(api.GET('/sandbox/{reference}/echo', { params: { path: { reference } } })) })
  const items = list.data?.items ?? []
  return (
    <section className="card stack" aria-labelledby="echo">
      <h2 id="echo">{t('webhooks.echo')}</h2>
      {items.length === 0 && <p className="mute">{t('webhooks.noEcho')}</p>}
      {items.map((one, at) => (
        <details key={at}>
          <summary>
            {time(one.at, 'long')} · {one.headers.find((header) => header.key === 'X-Trunkline-Event')?.value}
          </summary>
          <pre className="code" dir="auto" tabIndex={0}>
            {JSON.stringify(one.body, null, 2)}
          </pre>
        </details>
      ))}
    </section>
  )
}
