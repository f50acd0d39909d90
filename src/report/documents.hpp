// SPDX-License-Identifier: Apache-2.0
/// The shorter documents as text and CSV; the renderers call these by the document's type.
#pragma once

#include <iosfwd>

#include "report/report_model.hpp"

namespace oplat::report {

void print_document(const PredictionList& list, std::ostream& out);
void print_document(const AdviceReport& advice, std::ostream& out);
void print_document(const CheckReport& check, std::ostream& out);
void print_document(const InspectionReport& report, std::ostream& out);
void print_document(const MachineReport& machine, std::ostream& out);
void print_document(const Measurement& measurement, std::ostream& out);
void print_document(const ProfileReport& profile, std::ostream& out);
void print_document(const Sweep& sweep, std::ostream& out);
void print_document(const RuntimeList& list, std::ostream& out);
void print_document(const RuleList& list, std::ostream& out);

void write_csv(const PredictionList& list, std::ostream& out);
void write_csv(const PlanList& list, std::ostream& out);
void write_csv(const AdviceReport& advice, std::ostream& out);
void write_csv(const CheckReport& check, std::ostream& out);
void write_csv(const InspectionReport& report, std::ostream& out);
void write_csv(const MachineReport& machine, std::ostream& out);
void write_csv(const Measurement& measurement, std::ostream& out);
void write_csv(const ProfileReport& profile, std::ostream& out);
void write_csv(const Sweep& sweep, std::ostream& out);
void write_csv(const RuntimeList& list, std::ostream& out);
void write_csv(const RuleList& list, std::ostream& out);
void write_csv(const Sheet& sheet, std::ostream& out);

}  // namespace oplat::report
