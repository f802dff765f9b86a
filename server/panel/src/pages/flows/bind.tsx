import { useQuery } from '@tanstack/react-query'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Check } from '../../ui/field'
import { useLines } from '../../ui/line-choice'

/** Bind says on which lines a flow listens. */
export function Bind({ flow }: { flow: string }) {
  const path = { params: { path: { flowId: flow } } }
  const key = ['bindings', flow]
  const lines = useLines()
  const bound = useQuery({ queryKey: key, queryFn: () => got(api.GET('/aiflow/flow/{flowId}/bind', path)) })
  const act = useAct((body: { reference: number; enabled: boolean }) => got(api.PUT('/aiflow/flow/{flowId}/bind', { ...path, body })), { then: (next) => client.setQueryData(key, next) })
  return (
    <fieldset className="plain">
      <legend>{t('flows.listens')}</legend>
      <div className="stack tight">
        {lines.data?.items.map((line) => (
          <Check
            key={line.id}
            label={line.name}
            checked={bound.data?.items.some((one) => one.reference === line.id && one.enabled) ?? false}
            onChange={(event) => act.mutate({ reference: line.id, enabled: event.target.checked })}
          />
        ))}
      </div>
    </fieldset>
  )
}
