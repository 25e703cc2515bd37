"""The pattern agent reads plain statements, and keeps silent where nothing is stated.

The sentences are our own, written before the rules were fitted to them, in three rounds.
"""

from __future__ import annotations

import time

import pytest

from whybench.core.seeds import Stream
from whybench.families.recite.pattern import relations
from whybench.families.recite.pattern_rules import forms

STATED = """
Soil moisture raises crop yield.
  soil moisture > crop yield
Heavy rainfall lowers the water temperature.
  heavy rainfall > water temperature
The price of fertiliser reduces the demand for seed.
  price of fertiliser > demand for seed
The number of nurses strongly affects patient waiting time.
  number of nurses > patient waiting time
Crop yield is reduced by soil salinity.
  soil salinity > crop yield
Crop yield has been driven mainly by soil moisture.
  soil moisture > crop yield
Staff turnover is largely determined by the level of pay.
  level of pay > staff turnover
An increase in soil moisture leads to a rise in crop yield.
  soil moisture > crop yield
Higher ticket prices result in lower passenger numbers.
  ticket prices > passenger numbers
Sediment load depends on river flow.
  river flow > sediment load
Sediment load results from bank erosion.
  bank erosion > sediment load
The decline in fish stock is due to fishing effort.
  fishing effort > fish stock
Because of road traffic, the noise level rises.
  road traffic > noise level
The noise level rises because of road traffic.
  road traffic > noise level
The effect of road traffic on the noise level is considerable.
  road traffic > noise level
Road traffic has a marked effect on the noise level.
  road traffic > noise level
Road traffic is the main cause of the noise level.
  road traffic > noise level
The main driver of crop yield is soil moisture.
  soil moisture > crop yield
Crop yield is a consequence of soil moisture.
  soil moisture > crop yield
When soil moisture rises, crop yield goes up.
  soil moisture > crop yield
If the interest rate falls, household debt grows.
  interest rate > household debt
Crop yield falls when soil salinity rises.
  soil salinity > crop yield
The higher the interest rate, the lower the household debt.
  interest rate > household debt
Soil moisture and air temperature affect crop yield.
  soil moisture > crop yield
  air temperature > crop yield
Soil moisture, air temperature and day length all affect crop yield.
  soil moisture > crop yield
  air temperature > crop yield
  day length > crop yield
Rainfall affects both soil moisture and river flow.
  rainfall > soil moisture
  rainfall > river flow
Rainfall shapes soil moisture, river flow and reservoir level.
  rainfall > soil moisture
  rainfall > river flow
  rainfall > reservoir level
Crop yield is shaped by soil moisture and by air temperature.
  soil moisture > crop yield
  air temperature > crop yield
Staff morale and staff turnover influence each other.
  staff morale > staff turnover
  staff turnover > staff morale
Staff morale and staff turnover are mutually dependent.
  staff morale > staff turnover
  staff turnover > staff morale
Rainfall raises soil moisture, which in turn raises crop yield.
  rainfall > soil moisture
  soil moisture > crop yield
Rainfall raises soil moisture and lowers air temperature.
  rainfall > soil moisture
  rainfall > air temperature
Rainfall increases river flow, thereby raising sediment load.
  rainfall > river flow
  river flow > sediment load
In addition, soil moisture promotes root growth.
  soil moisture > root growth
As the survey shows, soil moisture promotes root growth.
  soil moisture > root growth
The survey found that soil moisture promotes root growth.
  soil moisture > root growth
It is well established that soil moisture promotes root growth.
  soil moisture > root growth
Over the ten years of the record, river flow has determined the reservoir level.
  river flow > reservoir level
Reservoir level responds to river flow.
  river flow > reservoir level
Reservoir level is sensitive to river flow.
  river flow > reservoir level
Reservoir level is a function of river flow.
  river flow > reservoir level
River flow feeds into the reservoir level.
  river flow > reservoir level
River flow contributes to sediment load.
  river flow > sediment load
River flow gives rise to sediment load.
  river flow > sediment load
The training budget keeps staff turnover low.
  training budget > staff turnover
The training budget brings down staff turnover.
  training budget > staff turnover
The training budget pushes staff morale up.
  training budget > staff morale
The workload causes staff morale to fall.
  workload > staff morale
The workload makes staff morale worse.
  workload > staff morale
The workload is responsible for the fall in staff morale.
  workload > staff morale
Staff morale owes much to the training budget.
  training budget > staff morale
Staff morale suffers as a result of the workload.
  workload > staff morale
Owing to the workload, staff morale has declined.
  workload > staff morale
As a consequence of the workload, staff morale declines.
  workload > staff morale
Changes in the workload bring about changes in staff morale.
  workload > staff morale
Raising the interest rate lowers household debt.
  interest rate > household debt
Behind the rise in household debt stands the interest rate.
  interest rate > household debt
Two factors drive household debt: the interest rate and the house price.
  interest rate > household debt
  house price > household debt
Household debt has two causes: the interest rate and the house price.
  interest rate > household debt
  house price > household debt
Among the causes of household debt are the interest rate and the house price.
  interest rate > household debt
  house price > household debt
The factors that shape household debt are the interest rate and the house price.
  interest rate > household debt
  house price > household debt
It is the interest rate that drives household debt.
  interest rate > household debt
What drives household debt is the interest rate.
  interest rate > household debt
The reason for the fall in bus ridership is the ticket price.
  ticket price > bus ridership
The ticket price, a figure set by the council, reduces bus ridership.
  ticket price > bus ridership
The ticket price, together with the parking fee, influences bus ridership.
  ticket price > bus ridership
  parking fee > bus ridership
Bus ridership hinges on the ticket price.
  ticket price > bus ridership
Bus ridership is governed by the ticket price rather than by the parking fee.
  ticket price > bus ridership
The ticket price not only reduces bus ridership but also raises car use.
  ticket price > bus ridership
  ticket price > car use
The ticket price reduces bus ridership but does not affect the noise level.
  ticket price > bus ridership
Without the training budget, staff turnover would be higher.
  training budget > staff turnover
Were it not for the levee height, flood damage would be greater.
  levee height > flood damage
Flood damage can be traced back to the levee height.
  levee height > flood damage
Flood damage is attributable to river flow.
  river flow > flood damage
Flood damage stems from river flow.
  river flow > flood damage
The levee height protects against flood damage.
  levee height > flood damage
The levee height limits flood damage.
  levee height > flood damage
The levee height prevents flood damage.
  levee height > flood damage
The influence of vaccination coverage on hospital admissions is direct.
  vaccination coverage > hospital admissions
Vaccination coverage exerts a strong influence on hospital admissions.
  vaccination coverage > hospital admissions
Hospital admissions are under the influence of vaccination coverage.
  vaccination coverage > hospital admissions
Hospital admissions change in response to vaccination coverage.
  vaccination coverage > hospital admissions
Vaccination coverage plays a part in hospital admissions.
  vaccination coverage > hospital admissions
Vaccination coverage has consequences for hospital admissions.
  vaccination coverage > hospital admissions
Since vaccination coverage is low, hospital admissions are high.
  vaccination coverage > hospital admissions
Vaccination coverage fell, so hospital admissions rose.
  vaccination coverage > hospital admissions
A fall in vaccination coverage is followed by a rise in hospital admissions.
  vaccination coverage > hospital admissions
The interest rate affects house prices through household debt.
  interest rate > household debt
  household debt > house prices
Air pollution triggers asthma attacks.
  air pollution > asthma attacks
Air pollution sets off asthma attacks.
  air pollution > asthma attacks
Air pollution weighs on lung function.
  air pollution > lung function
Lung function is impaired by air pollution and tobacco use.
  air pollution > lung function
  tobacco use > lung function
Impaired by air pollution, lung function has declined.
  air pollution > lung function
Air pollution is harmful to lung function.
  air pollution > lung function
Air pollution translates into poorer lung function.
  air pollution > lung function
A rise in air pollution means a fall in lung function.
  air pollution > lung function
The more air pollution there is, the worse lung function becomes.
  air pollution > lung function
Air pollution determines how good lung function is.
  air pollution > lung function
There is a causal link from air pollution to lung function.
  air pollution > lung function
Lung function is at the mercy of air pollution.
  air pollution > lung function
Air pollution worsens lung function by about three percent each year.
  air pollution > lung function
From the feed price follows the milk price.
  feed price > milk price
The milk price reflects the feed price.
  feed price > milk price
The dependence of the milk price on the feed price is plain.
  feed price > milk price
Thanks to the herd size, milk output has grown.
  herd size > milk output
Herd size and milk price feed on one another.
  herd size > milk price
  milk price > herd size
Milk output, which is boosted by feed quality, raises farm income.
  feed quality > milk output
  milk output > farm income
The density of the reed bed is the chief determinant of nesting success.
  density of the reed bed > nesting success
Nesting success rises as the density of the reed bed increases.
  density of the reed bed > nesting success
With every fall in the water table, peat loss accelerates.
  water table > peat loss
Peat loss is a direct result of the falling water table.
  water table > peat loss
The water table acts on peat loss.
  water table > peat loss
A lower water table makes for faster peat loss.
  water table > peat loss
The extent of drainage sets the water table.
  extent of drainage > water table
Drainage works directly on the water table.
  drainage > water table
The water table is drawn down by drainage.
  drainage > water table
Of all quantities studied, drainage bears most heavily on the water table.
  drainage > water table
As soon as drainage is cut back, the water table recovers.
  drainage > water table
When drainage was halved in the second year, the water table rose.
  drainage > water table
The share of late trains goes back to track wear.
  track wear > share of late trains
Track wear accounts for most of the variation in the share of late trains.
  track wear > share of late trains
Track wear is one of the reasons for the share of late trains.
  track wear > share of late trains
To track wear is owed the share of late trains.
  track wear > share of late trains
The share of late trains climbs whenever track wear goes up.
  track wear > share of late trains
Axle load speeds up track wear.
  axle load > track wear
The axle load, in turn, adds to track wear.
  axle load > track wear
Axle load and train speed jointly determine track wear.
  axle load > track wear
  train speed > track wear
Track wear has its origin in axle load and train speed.
  axle load > track wear
  train speed > track wear
Both axle load and train speed are drivers of track wear.
  axle load > track wear
  train speed > track wear
Track wear follows from axle load, train speed and the quality of the ballast.
  axle load > track wear
  train speed > track wear
  quality of the ballast > track wear
Axle load has an impact on track wear, ride comfort and fuel use.
  axle load > track wear
  axle load > ride comfort
  axle load > fuel use
Axle load influences track wear as well as ride comfort.
  axle load > track wear
  axle load > ride comfort
Ride comfort is determined in large part by track wear.
  track wear > ride comfort
The size of the library budget leaves its mark on the number of visitors.
  size of the library budget > number of visitors
A larger library budget means more loans.
  library budget > loans
Loans have risen owing to the library budget.
  library budget > loans
The number of loans has fallen because the library budget was cut.
  library budget > number of loans
Opening hours, which depend on the library budget, determine the number of loans.
  library budget > opening hours
  opening hours > number of loans
The library budget works its way through to opening hours.
  library budget > opening hours
The library budget, through opening hours, affects the number of loans.
  library budget > opening hours
  opening hours > number of loans
Opening hours enable more loans.
  opening hours > loans
The number of loans and the library budget reinforce one another.
  number of loans > library budget
  library budget > number of loans
There is a feedback loop between the number of loans and the library budget.
  number of loans > library budget
  library budget > number of loans
Vaccine uptake reduces sick leave, and sick leave raises overtime.
  vaccine uptake > sick leave
  sick leave > overtime
Vaccine uptake reduces sick leave, while overtime lowers staff morale.
  vaccine uptake > sick leave
  overtime > staff morale
Sick leave is a major source of overtime.
  sick leave > overtime
Overtime comes about through sick leave.
  sick leave > overtime
The response of overtime to sick leave is swift.
  sick leave > overtime
Overtime exists because of sick leave.
  sick leave > overtime
A shortage of sea ice exposes the coast to wave energy, and wave energy speeds coastal erosion.
  wave energy > coastal erosion
Sea ice shields the coast from erosion; wave energy drives coastal erosion.
  wave energy > coastal erosion
We find that sea ice cover dampens wave energy.
  sea ice cover > wave energy
Measurements leave no doubt that sea ice cover dampens wave energy.
  sea ice cover > wave energy
Wave energy would be lower if sea ice cover were higher.
  sea ice cover > wave energy
That wave energy varies is down to sea ice cover.
  sea ice cover > wave energy
Sea ice cover is what limits wave energy.
  sea ice cover > wave energy
Any change in sea ice cover is passed on to wave energy.
  sea ice cover > wave energy
The consequence of thinner sea ice cover is greater wave energy.
  sea ice cover > wave energy
Coastal erosion increases with wave energy.
  wave energy > coastal erosion
Coastal erosion is higher if wave energy is high.
  wave energy > coastal erosion
Coastal erosion and silt content both depend on wave energy.
  wave energy > coastal erosion
  wave energy > silt content
Wave energy, tidal range and silt content were monitored; wave energy controls coastal erosion.
  wave energy > coastal erosion
Across all stations, turbidity is pushed up by dredging activity.
  dredging activity > turbidity
Dredging activity is the single most important influence on turbidity in this estuary.
  dredging activity > turbidity
Turbidity, measured twice a week, cuts light penetration.
  turbidity > light penetration
Light penetration is in turn what sustains seagrass cover.
  light penetration > seagrass cover
More seagrass cover brings more juvenile fish.
  seagrass cover > juvenile fish
The abundance of juvenile fish is a consequence of seagrass cover and of water temperature.
  seagrass cover > abundance of juvenile fish
  water temperature > abundance of juvenile fish
From 2011 onwards, the size of the fleet shaped dredging activity more than anything else did.
  size of the fleet > dredging activity
The figures show that parking charges have brought about a decline in town-centre footfall.
  parking charges > town-centre footfall
Town-centre footfall has dropped as a result of parking charges and shop vacancy.
  parking charges > town-centre footfall
  shop vacancy > town-centre footfall
Shop vacancy breeds more shop vacancy, but it also depresses town-centre footfall.
  shop vacancy > town-centre footfall
Shop vacancy hurts both town-centre footfall and the tax base.
  shop vacancy > town-centre footfall
  shop vacancy > tax base
There are three causes of shop vacancy: rent level, online retail and parking charges.
  rent level > shop vacancy
  online retail > shop vacancy
  parking charges > shop vacancy
Rent level, online retail and parking charges are the causes of shop vacancy.
  rent level > shop vacancy
  online retail > shop vacancy
  parking charges > shop vacancy
Shop vacancy can be explained by the rent level.
  rent level > shop vacancy
The rent level is at the root of shop vacancy.
  rent level > shop vacancy
If it were not for the rent level, shop vacancy would be lower.
  rent level > shop vacancy
The tax base feeds back into the rent level.
  tax base > rent level
A drop in the tax base forces cuts in road maintenance.
  tax base > road maintenance
Road maintenance is financed out of, and therefore limited by, the tax base.
  tax base > road maintenance
Poor road maintenance is to blame for the accident rate.
  road maintenance > accident rate
The accident rate is lowered by road maintenance and raised by traffic volume.
  road maintenance > accident rate
  traffic volume > accident rate
Traffic volume has driven the accident rate upwards.
  traffic volume > accident rate
Traffic volume exerts upward pressure on the accident rate.
  traffic volume > accident rate
Traffic volume, fuel price and road maintenance all feed into the accident rate.
  traffic volume > accident rate
  fuel price > accident rate
  road maintenance > accident rate
A dearer fuel price discourages traffic volume.
  fuel price > traffic volume
Traffic volume shrinks in response to the fuel price.
  fuel price > traffic volume
Traffic volume is subject to the influence of the fuel price.
  fuel price > traffic volume
Where the accident rate comes from is no mystery: it is caused by traffic volume.
  traffic volume > accident rate
Insurance cost is set by the accident rate; the accident rate is determined by traffic volume.
  accident rate > insurance cost
  traffic volume > accident rate
The insurance cost rises because the accident rate rises.
  accident rate > insurance cost
The accident rate rose and, as a result, the insurance cost rose.
  accident rate > insurance cost
The insurance cost moves in response to changes in the accident rate.
  accident rate > insurance cost
A one-point rise in the accident rate adds four euros to the insurance cost.
  accident rate > insurance cost
It was the accident rate that pushed up the insurance cost.
  accident rate > insurance cost
Much of the insurance cost stems from the accident rate.
  accident rate > insurance cost
Changes in the accident rate carry through to the insurance cost.
  accident rate > insurance cost
The insurance cost is largely a product of the accident rate.
  accident rate > insurance cost
The accident rate is a strong determinant of the insurance cost, as every insurer knows.
  accident rate > insurance cost
Teacher workload erodes lesson quality, and lesson quality underpins exam results.
  teacher workload > lesson quality
  lesson quality > exam results
Teacher workload erodes lesson quality and, with it, exam results.
  teacher workload > lesson quality
Class size affects exam results by lowering lesson quality.
  class size > lesson quality
  lesson quality > exam results
By adding to teacher workload, class size erodes lesson quality.
  class size > teacher workload
  teacher workload > lesson quality
Lesson quality is the channel through which class size affects exam results.
  class size > lesson quality
  lesson quality > exam results
Exam results respond strongly to lesson quality.
  lesson quality > exam results
Exam results improve when lesson quality improves.
  lesson quality > exam results
Better lesson quality yields better exam results.
  lesson quality > exam results
Lesson quality is crucial for exam results.
  lesson quality > exam results
For exam results, lesson quality is decisive.
  lesson quality > exam results
Exam results and pupil motivation drive each other.
  exam results > pupil motivation
  pupil motivation > exam results
Pupil motivation raises exam results, and vice versa.
  exam results > pupil motivation
  pupil motivation > exam results
"""
"""Sentences, each with its pairs below it: cause > effect."""

NOT_STATED = """
Soil moisture does not affect crop yield.
Soil moisture has no effect on crop yield.
Soil moisture never raised crop yield.
Crop yield is not driven by soil moisture.
Crop yield is independent of soil moisture.
Neither soil moisture nor air temperature affects crop yield.
Soil moisture may affect crop yield.
Soil moisture might raise crop yield.
It is possible that soil moisture raises crop yield.
Soil moisture could have an effect on crop yield.
Perhaps soil moisture drives crop yield.
Some farmers believe that soil moisture drives crop yield.
It has been suggested that crop yield depends on soil moisture.
Whether soil moisture affects crop yield is an open question.
Does soil moisture affect crop yield?
Soil moisture seems to affect crop yield.
Soil moisture is said to lower crop yield.
Soil moisture is correlated with crop yield.
Soil moisture and crop yield rise and fall together.
Soil moisture is associated with crop yield.
Soil moisture and crop yield move in step, but neither affects the other.
Years of high soil moisture were also years of high crop yield.
In other regions, soil moisture raises crop yield.
Elsewhere, soil moisture is known to drive crop yield.
In a neighbouring district, crop yield was reduced by soil salinity.
Studies from other countries report that soil moisture increases crop yield.
Abroad, the interest rate lowers household debt.
There is no evidence that the interest rate drives household debt.
The interest rate failed to change household debt.
The interest rate left household debt unchanged.
The claim that the interest rate drives household debt was not confirmed.
The council suspects that the ticket price reduces bus ridership.
The ticket price was recorded each month by the council.
Bus ridership was measured by two counters.
The report describes the ticket price and bus ridership.
Bus ridership increased in the third year.
This raises the noise level.
Chapter three covers changes in the ticket price.
The committee met four times to discuss bus ridership.
The ticket price raised bus ridership in another city, but here no such effect was seen.
The effect of the ticket price on bus ridership is unknown.
A link between the ticket price and bus ridership was looked for and not found.
An influence of the ticket price on bus ridership is ruled out.
The data were collected to reduce the number of gaps.
Any effect of the ticket price on bus ridership is a matter of conjecture.
Changes in the ticket price made no difference to bus ridership.
Hardly any influence of the ticket price on bus ridership was seen.
Bus ridership and the ticket price share the same seasonal pattern.
Drainage and the water table have both been falling for a decade.
Drainage would appear to lower the water table.
The water table was found to be unaffected by drainage.
The panel could not tell whether drainage lowers the water table.
Nothing indicates that drainage acts on the water table.
Drainage is widely assumed to cause peat loss.
In the upper basin of another river, drainage lowers the water table.
A review of foreign lakes shows that drainage lowers the water table.
The chart shows drainage together with the water table.
Drainage is listed in table four, the water table in table five.
Peat loss was high in years in which drainage was high.
Peat loss is no longer driven by drainage.
Drainage lacks any influence on nesting success.
It would be rash to say that drainage drives peat loss.
The water table, the report speculates, depends on drainage.
Drainage and peat loss go hand in hand.
One theory holds that peat loss results from drainage.
Staff were asked about drainage and peat loss.
The working group has set itself the task of measuring peat loss.
Contrary to expectation, drainage did not speed up peat loss.
The link between drainage and peat loss is purely statistical.
Peat loss has been linked to drainage by some residents.
The next section turns to drainage.
The fall in peat loss has been welcomed by the board.
The budget for the survey was increased in May.
Teacher workload has done nothing to lesson quality.
We found no sign that class size alters exam results.
Class size, so the union argues, erodes lesson quality.
Exam results may well depend on class size.
It is conceivable that class size feeds into exam results.
In the southern province of a neighbouring country, class size lowers exam results.
At another school, teacher workload drives sick leave.
Class size and exam results followed similar curves.
High class size tended to coincide with low exam results.
A regression of exam results on class size gives a slope of two.
Class size predicts exam results.
The schools with the largest class size had the lowest exam results.
Nobody has shown that class size matters for exam results.
Class size leaves exam results untouched.
The hypothesis that exam results depend on class size awaits testing.
It remains to be seen whether class size changes exam results.
Exam results do not respond to class size.
Class size was once thought to drive exam results.
If class size affected exam results, the figures would show it.
Exam results were published by the ministry in June.
The inspector was impressed by lesson quality.
The annex lists class size by school.
A plan to reduce class size was drawn up by the board.
The ministry wants to raise exam results.
Class size was reduced by the ministry in 2014.
"""
"""Denied, guessed at, true elsewhere, bare correlation, or no matter of cause at all."""

Case = tuple[str, list[tuple[str, str]]]


def _cases() -> list[Case]:
    cases: list[Case] = []
    for line in STATED.strip().splitlines():
        if line.startswith("  "):
            cause, effect = line.strip().split(" > ")
            cases[-1][1].append((cause, effect))
        else:
            cases.append((line, []))
    return cases


NAMES = sorted({end for _, pairs in _cases() for pair in pairs for end in pair})
MODES = pytest.mark.parametrize("names", [None, NAMES], ids=["free", "told"])


@MODES
def test_nearly_all_stated_pairs_are_found_and_nothing_besides(names: list[str] | None) -> None:
    cases = _cases()
    wrong = [case for case in cases if sorted(relations(case[0], names)) != sorted(case[1])]
    assert len(cases) >= 200
    assert len(wrong) <= 0.04 * len(cases), wrong


@MODES
def test_nothing_is_read_from_sentences_that_state_no_cause(names: list[str] | None) -> None:
    lines = NOT_STATED.strip().splitlines()
    assert len(lines) >= 90
    assert {line: found for line in lines if (found := relations(line, names))} == {}


def test_a_document_is_read_in_its_order_without_headings_and_each_pair_once() -> None:
    text = (
        "# Rain raises flow\n\nSoil moisture raises crop yield. Rain is recorded\ndaily.\n\n"
        "## Results\n\n- **Rain** raises soil moisture.\n- Crop yield is raised by soil moisture.\n"
    )
    want = [("soil moisture", "crop yield"), ("rain", "soil moisture")]
    assert relations(text) == want


def test_told_names_are_given_back_as_told_and_other_ends_are_dropped() -> None:
    text = "The soil  moisture of the field raises crop yield. Rainfall raises soil moisture."
    assert relations(text, ["The Soil Moisture", "Crop yield"]) == [
        ("The Soil Moisture", "Crop yield")
    ]
    assert relations(text, []) == []


def test_a_longer_told_name_wins_and_may_hold_words_that_look_like_a_cue() -> None:
    names = ["yield", "crop yield", "wear and tear", "use of reduced tillage"]
    text = "Use of reduced tillage lowers wear and tear. Wear and tear affects the crop yield."
    assert relations(text, names) == [
        ("use of reduced tillage", "wear and tear"),
        ("wear and tear", "crop yield"),
    ]


def test_capital_letters_inside_a_name_are_kept() -> None:
    assert relations("The CO2 level raises GDP growth.") == [("CO2 level", "GDP growth")]


def test_only_the_part_that_is_denied_is_left_out() -> None:
    text = "Rain raises river flow but does not affect soil salinity; fog lowers visibility."
    assert relations(text) == [("rain", "river flow"), ("fog", "visibility")]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "....",
            "# ",
            "|a|b|",
            "⟦1⟧ raises ⟦2⟧.",
            "\x00",
            "İ raises ǅ.",
            "raises",
            "By.",
        ),
        *("which raises which lowers which.", "((((", "🙂 raises 🙃.", "by raising", ", and , or"),
        *("a" * 20000, "a, " * 9000, "a rises and " * 40, "the rise in a rises as a falls, " * 15),
        *(
            "x is " * 99,
            "a raises " * 55,
            "a of b on c " * 40,
            "effect of " * 49,
            "has the the " * 40,
        ),
    ],
    ids=lambda text: text[:12].encode("unicode_escape").decode(),
)
def test_odd_texts_are_read_quickly_without_an_error(text: str) -> None:
    begin = time.process_time()
    for names in (None, [], ["a", "", "the", "x(", "⟦1⟧"]):
        assert all(cause != effect for cause, effect in relations(text, names))
    assert time.process_time() - begin < 2.0


def test_jumbled_words_raise_no_error_and_told_names_stay_told() -> None:
    glue = [",", ".", ";", ":", "(", ")", "#", "|", "*", "?", "soil moisture", "crop yield", "if"]
    words = [*STATED.split()[:400], *NOT_STATED.split()[:200], *glue * 5]
    names = ["soil moisture", "crop yield", "a"]
    for number in range(60):
        stream = Stream("pattern-jumble", number)
        text = " ".join(stream.choice(words) for _ in range(5 + stream.below(40)))
        relations(text)
        assert {end for pair in relations(text, names) for end in pair} <= set(names)


def test_the_longest_documents_are_read_in_two_seconds() -> None:
    lines = [case[0] for case in _cases()] + NOT_STATED.strip().splitlines()
    plain = " The figures of the second year were checked by hand and are given in the annex. "
    paragraph = plain.join(lines) + "\n\n"
    text = (paragraph * (170_000 // len(paragraph) + 1))[:170_000]
    begin = time.process_time()
    found = relations(text, NAMES)
    assert time.process_time() - begin < 2.0
    assert len(found) > 80


@pytest.mark.parametrize(
    ("verb", "want"),
    [
        ("modify", ("modify", "modifies", "modified", "modified", "modifying")),
        ("sway", ("sway", "sways", "swayed", "swayed", "swaying")),
        ("cut cut cut cutting", ("cut", "cuts", "cut", "cut", "cutting")),
        ("lie lay lain", ("lie", "lies", "lay", "lain", "lying")),
        ("diminish", ("diminish", "diminishes", "diminished", "diminished", "diminishing")),
    ],
)
def test_verb_forms(verb: str, want: tuple[str, ...]) -> None:
    assert forms(verb) == want
