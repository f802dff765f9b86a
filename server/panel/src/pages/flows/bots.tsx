import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { api, got, type Schemas } from '../../api/client'
import { t } from '../../text'
import { Icon } from '../../ui/icon'
import { useReferences } from '../../ui/reference-choice'
import { Badge, Button, Curl, Empty, Failed } from '../../ui/parts'
import { RowMenu } from './acts'
import { CreateBot } from './create'
import { engines } from './engine'
import type { Starter } from './starters'
import { starters } from './starters'

type Bot = Schemas['BotView']

/** Bots are those of all references; at most 200 of each of 50 references. */
export function Bots() {
  const references = useReferences()
  const [creating, setCreating] = useState<Starter['id'] | null>(null)
  const items = references.data?.items ?? []
  const ids = items.map((reference) => reference.id)
  const bots = useQuery({
    queryKey: ['bots', ids],
    enabled: ids.length > 0,
    queryFn: async () => (await Promise.all(ids.slice(0, 50).map((reference) => got(api.GET('/bot/list', { params: { query: { reference, limit: 200 } } }))))).flatMap((page) => page.items),
  })
  return (
    <section className="card stack" aria-labelledby="bots">
      <div className="row spread">
        <div>
          <h2 id="bots">{t('flows.bots')}</h2>
          <p className="small mute">{t('flows.noBotsText')}</p>
        </div>
        {items.length > 0 && (
          <Button icon="plus" onClick={() => setCreating('menu')}>
            {t('flows.createBot')}
          </Button>
        )}
      </div>
      {bots.error && <Failed error={bots.error} again={() => void bots.refetch()} />}
      {references.isSuccess && ids.length === 0 && (
        <Empty
          title={t('flows.noBots')}
          action={
            <Link className="button" href="/">
              {t('nav.home')}
            </Link>
          }
        >
          {t('flows.referenceFirst')}
        </Empty>
      )}
      {bots.data?.length === 0 && (
        <>
          <h3>{t('flows.noBots')}</h3>
          <ul className="gallery">
            {starters.map(({ id }) => (
              <li key={id} className="gallery-card stack">
                <div className="stack tight grow">
                  <strong>{t(`starter.${id}.title`)}</strong>
                  <span className="small mute">{t(`starter.${id}.text`)}</span>
                </div>
                <div>
                  <Button onClick={() => setCreating(id)} aria-label={t('flows.useOf', { name: t(`starter.${id}.title`) })}>
                    {t('flows.use')}
                  </Button>
                </div>
              </li>
            ))}
          </ul>
        </>
      )}
      <ul>{bots.data?.map((bot) => <BotRow key={bot.id} bot={bot} reference={items.find((reference) => reference.id === bot.reference)?.name ?? ''} />)}</ul>
      <Curl path={`/bot/list?reference=${ids[0] ?? 1}`} />
      {creating && <CreateBot references={items} begin={creating} close={() => setCreating(null)} />}
    </section>
  )
}

const triggerNames = ['always', 'keyword', 'regex', 'first_message', 'button', 'referral', 'schedule', 'manual'] as const

function triggerName(name: string): string {
  const known = triggerNames.find((one) => one === name)
  return known ? t(`flows.on.${known}`) : name
}

function BotRow({ bot, reference }: { bot: Bot; reference: string }) {
  const errors = bot.problems.filter((one) => one.severity === 'error').length
  return (
    <li className="flow-row row">
      <Link className="row spread grow flow-link" href={`/flows/bot/${bot.id}`} data-row>
        <Icon name="flow" />
        <strong className="grow clip" dir="auto">
          {bot.name}
        </strong>
        <span className="mute small clip">
          {reference} · {bot.triggers.map(triggerName).join(', ')}
        </span>
        {errors > 0 && <Badge tone="bad">{t('flows.problems', { n: errors })}</Badge>}
        {!bot.active && <Badge>{t('edit.off')}</Badge>}
        <Badge tone={bot.version > 0 && bot.active ? 'ok' : 'none'}>{bot.version > 0 ? t('flows.version', { n: bot.version }) : t('flows.draft')}</Badge>
      </Link>
      <RowMenu engine={engines.bot} of={{ id: bot.id, name: bot.name, slug: '', isFunction: false }} list={['bots']} />
    </li>
  )
}
