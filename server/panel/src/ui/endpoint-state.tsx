import { useQuery } from '@tanstack/react-query'
import { api, got, type Schemas } from '../api/client'
import { number, t } from '../text'
import { Badge, Notice } from './parts'

type Endpoint = Schemas['Endpoint']

/** fails says whether the last attempt at an endpoint failed, or nothing more is sent to it. */
export const fails = (endpoint: Endpoint) => endpoint.state !== 'ok' || endpoint.lastError !== null

/** EndpointBadge says how an endpoint is. */
export function EndpointBadge({ endpoint }: { endpoint: Endpoint }) {
  return <Badge tone={fails(endpoint) ? 'bad' : 'ok'}>{t(endpoint.state === 'ok' && endpoint.lastError !== null ? 'hooks.failing' : `hooks.${endpoint.state}`)}</Badge>
}

/** EndpointTrouble says why an endpoint fails, and how many of the last attempts did. */
export function EndpointTrouble({ endpoint, children }: { endpoint: Endpoint; children?: React.ReactNode }) {
  const query = { reference: endpoint.reference, endpoint: endpoint.endpointId, limit: 100 }
  const log = useQuery({ queryKey: ['deliveries', endpoint.reference, 'rate', endpoint.endpointId], queryFn: () => got(api.GET('/references/deliveries', { params: { query } })), enabled: fails(endpoint) })
  if (!fails(endpoint)) return null
  const attempts = log.data?.items.flatMap((one) => one.attempts) ?? []
  const failed = attempts.filter((one) => one.error !== null).length
  return (
    <Notice tone="bad">
      {children}
      {endpoint.lastError}
      {attempts.length > 0 && (
        <p className="small">{t('hooks.rate', { failed: number(failed), all: number(attempts.length), rate: number(failed / attempts.length, { style: 'percent' }) })}</p>
      )}
    </Notice>
  )
}
