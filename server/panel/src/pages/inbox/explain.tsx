import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { api, got } from '../../api/client'
import { number, t, time } from '../../text'
import { Dialog } from '../../ui/dialog'
import { Badge, Curl, Failed, Loading } from '../../ui/parts'
import type { Message } from './preview'

/** Explain tells what became of a message, from the provider's frame to the last attempt at a webhook. */
export function Explain({ reference, chatId, message, close }: { reference: number; chatId: string; message: Message; close: () => void }) {
  const query = { reference, chatId, messageId: message.id }
  const all = useQuery({ queryKey: ['explain', query], queryFn: () => got(api.GET('/chats/explain', { params: { query } })), staleTime: 0 })
  return (
    <Dialog title={t('explain.title')} close={close} wide>
      {all.isPending && <Loading />}
      {all.error && <Failed error={all.error} again={() => void all.refetch()} />}
      <ol className="timeline">
        {all.data?.steps.map((step, at) => (
          <li key={at}>
            <span className="small mute">
              {time(step.at, 'long')} +{number(step.afterMs)} ms
            </span>
            <span className="row">
              <strong>{step.step}</strong>
              {step.outcome && <Badge>{step.outcome}</Badge>}
              {step.status && <Badge>{step.status}</Badge>}
              {step.statusCode !== undefined && <Badge tone={step.statusCode < 300 ? 'ok' : 'bad'}>{step.statusCode}</Badge>}
              {step.event && <span>{step.event}</span>}
              {step.runId && step.engine && <Link href={`/runs/${step.engine === 'botengine' ? 'bot' : 'flow'}/${step.runId}`}>{t('run.title')}</Link>}
              {step.error && <span className="bubble-error">{step.error.message}</span>}
            </span>
            {step.asked?.map((one, i) => (
              <pre key={i} className="small">
                {JSON.stringify(one)}
              </pre>
            ))}
            {step.values && <pre className="small">{JSON.stringify(step.values)}</pre>}
          </li>
        ))}
      </ol>
      <Curl path={`/chats/explain?${new URLSearchParams({ reference: String(reference), chatId, messageId: message.id })}`} />
    </Dialog>
  )
}
