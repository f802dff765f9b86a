import { useState } from 'react'
import { type Alert, alerts, isAlertOn, setAlert } from '../../shell/alerts'
import { t } from '../../text'
import { Dialog } from '../../ui/dialog'
import { Check } from '../../ui/field'
import { Button } from '../../ui/parts'
import { toast } from '../../ui/toast'

const stored = 'trunkline.enter'

/** enterSends says whether Enter alone sends. On a screen that is touched it begins a line, as on phones. */
export const enterSends = () => localStorage.getItem(stored) !== 'ctrl' && !matchMedia('(pointer: coarse)').matches

/** Settings are what this browser does in the inbox. */
export function Settings() {
  const [open, setOpen] = useState(false)
  const [ctrl, setCtrl] = useState(() => localStorage.getItem(stored) === 'ctrl')
  return (
    <>
      <Button tone="quiet" icon="settings" label={t('inbox.settings')} onClick={() => setOpen(true)} />
      {open && (
        <Dialog title={t('inbox.settings')} close={() => setOpen(false)}>
          <div className="stack" data-kept>
            <Check
              label={t('inbox.ctrlEnter')}
              hint={t('inbox.ctrlEnterHint')}
              checked={ctrl}
              onChange={(event) => {
                setCtrl(event.target.checked)
                localStorage.setItem(stored, event.target.checked ? 'ctrl' : 'enter')
              }}
            />
            {alerts.map((alert) => (
              <AlertCheck key={alert} alert={alert} />
            ))}
          </div>
        </Dialog>
      )}
    </>
  )
}

/** AlertCheck turns on what happens when a contact writes while the tab is hidden. */
function AlertCheck({ alert }: { alert: Alert }) {
  const [on, setOn] = useState(() => isAlertOn(alert))
  const set = async (wanted: boolean) => {
    setOn(wanted) // as the box shows it already
    const done = await setAlert(alert, wanted)
    setOn(done && wanted)
    if (!done) toast('bad', t('inbox.alertRefused'))
  }
  return <Check label={t(`inbox.alert.${alert}`)} hint={t('inbox.alertHint')} checked={on} onChange={(event) => void set(event.target.checked)} />
}
